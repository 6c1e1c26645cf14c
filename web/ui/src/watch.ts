// The pages below "Watch", which are one chunk.
export { default as Alert } from "./alerts/detail/page";
export { default as Alerts } from "./alerts/page";
export { default as Audit } from "./audits/detail/page";
export { default as Audits } from "./audits/page";
export { default as Finding } from "./findings/detail/page";
export { default as Findings } from "./findings/page";
export { default as Incident } from "./incidents/detail/page";
export { default as Incidents } from "./incidents/page";
