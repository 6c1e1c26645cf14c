// The pages below "Administration", which are one chunk.
export { default as AuditLog } from "./audit-log/page";
export { default as Deletions } from "./deletions/page";
export { default as Keys } from "./keys/page";
export { default as ModelWindows } from "./model-windows/page";
export { default as PermissionSets } from "./permission-sets/page";
export { default as Prices } from "./prices/page";
export { default as Sources } from "./receipts/page";
export { default as Settings } from "./settings/page";
export { default as Usage } from "./usage/page";
export { default as Members } from "./users/page";
