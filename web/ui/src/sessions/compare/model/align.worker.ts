/** Aligns two sequences off the main thread. */
import { align } from "./align";

export interface AlignRequest {
  one: Int32Array;
  other: Int32Array;
}

self.onmessage = ({ data }: MessageEvent<AlignRequest>) => {
  const aligned = align(data.one, data.other);
  self.postMessage(aligned, { transfer: [aligned.left.buffer, aligned.right.buffer] });
};
