/** Works out the structure of a session off the main thread. The answer carries the number of its request. */
import { type Columns, structureOf } from "./structure";

export interface StructureRequest {
  number: number;
  columns: Columns;
}

self.onmessage = ({ data }: MessageEvent<StructureRequest>) => {
  const structure = structureOf(data.columns);
  const { codes, pairs, rows } = structure;
  const arrays = [codes, ...Object.values(pairs), ...Object.values(rows)].filter((each) => typeof each === "object");
  self.postMessage({ number: data.number, structure }, { transfer: arrays.map((each) => (each as Uint8Array).buffer) });
};
