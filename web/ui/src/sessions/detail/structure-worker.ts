// The worker that pairs events and makes rows of them; one for the page, started with the first session.
import url from "worker:./model/structure.worker.ts";
import { startWorker } from "../../kit/worker";
import type { Outline } from "./model/outline";
import type { Structure } from "./model/structure";
import type { StructureRequest } from "./model/structure.worker";

let worker: Worker | null = null;
let last = 0;
const waiting = new Map<number, { resolve: (structure: Structure) => void; reject: (error: Error) => void }>();

function start(): Worker {
  const started = startWorker(url);
  started.onmessage = ({ data }: MessageEvent<{ number: number; structure: Structure }>) => {
    waiting.get(data.number)?.resolve(data.structure);
    waiting.delete(data.number);
  };
  started.onerror = ({ message }) => {
    for (const { reject } of waiting.values()) reject(new Error(message));
    waiting.clear();
    worker = null;
  };
  return started;
}

export function structureInWorker(outline: Outline): Promise<Structure> {
  worker ??= start();
  const number = ++last;
  // Only the columns that it needs: summaries are the most of an outline.
  const { length, type, types, agent, agents, pair, ts, durationMs } = outline;
  const request: StructureRequest = { number, columns: { length, type, types, agent, agents, pair, ts, durationMs } };
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    worker!.postMessage(request);
  });
}
