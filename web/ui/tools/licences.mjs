// THIRD-PARTY.md: name, version and licence text of every package that is part of the bundle.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const LICENCE = /^(licen[cs]e|copying)(\.\w+)?$/i;

function packageOf(input) {
  const match = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  return match?.[1];
}

async function describe(modules, name) {
  const folder = join(modules, name);
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((entry) => LICENCE.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  const text = (await readFile(join(folder, file), "utf8")).trim();
  return `## ${name} ${version} (${license})\n\n\`\`\`\n${text}\n\`\`\`\n`;
}

/**
 * @param modules path of `node_modules`
 * @param metafiles of all builds
 * @param others names of packages that a plugin read
 */
export async function thirdParty(modules, metafiles, others) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const names = [...new Set([...inputs.map(packageOf), ...others])].filter(Boolean).sort();
  const parts = await Promise.all(names.map((name) => describe(modules, name)));
  return ["# Third-party code in this folder\n", ...parts].join("\n");
}
