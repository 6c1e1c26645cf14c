// The list and the page of one, which are one chunk.
export { default as Dashboard } from "./detail/page";
export { default as Dashboards } from "./page";
