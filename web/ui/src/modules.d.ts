/** The URL of the icon sprite, and of a worker's script. `tools/plugins.mjs` makes both. */
declare module "sprite:icons" {
  const url: string;
  export default url;
}
declare module "worker:*" {
  const url: string;
  export default url;
}
