// The pages that read events and add them up, which are one chunk.
export { default as Costs } from "./costs/page";
export { default as Errors } from "./errors/page";
export { default as Evaluations } from "./evaluations/page";
export { default as Events } from "./events/page";
export { default as Latency } from "./latency/page";
