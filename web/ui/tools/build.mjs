// Builds `src/` into a folder: hashed files, each with its .gz, manifest.json and THIRD-PARTY.md.
//   node tools/build.mjs [--watch] [--out static]

import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import zopfli from "@gfx/zopfli";
import { context } from "esbuild";
import { thirdParty } from "./licences.mjs";
import { sprite, together, workers } from "./plugins.mjs";

const ui = resolve(import.meta.dirname, "..");
const { values } = parseArgs({
  options: { watch: { type: "boolean", default: false }, out: { type: "string", default: "static" } },
});
const out = resolve(values.out);

/** The names that the shell needs: entry points, and the chunks that `main` imports at once. */
function manifestOf(outputs) {
  const entries = {};
  for (const [path, output] of Object.entries(outputs)) {
    if (output.entryPoint === "src/main.tsx") entries["main.js"] = path;
    if (output.entryPoint === "src/style/main.css") entries["main.css"] = path;
  }
  const preload = new Set();
  const visit = (path) => {
    for (const { path: next, kind } of outputs[path].imports)
      if (kind === "import-statement" && !preload.has(next)) {
        preload.add(next);
        visit(next);
      }
  };
  visit(entries["main.js"]);
  return {
    "main.js": basename(entries["main.js"]),
    "main.css": basename(entries["main.css"]),
    preload: [...preload].map((path) => basename(path)).sort(),
  };
}

/** Packs a file. Zopfli takes seconds for all of them and saves 3 %; while one edits, zlib does. */
async function packed(contents) {
  if (values.watch) return gzipSync(contents, { level: 9 });
  return zopfli.gzipAsync(contents, { numiterations: 5 });
}

/** Empties the folder and writes the bundle; the manifest last, so that it names what is there. */
async function write({ outputFiles, metafile }, workerMetafiles) {
  await mkdir(out, { recursive: true });
  const names = new Set();
  for (const { path, contents } of outputFiles) {
    const name = basename(path);
    names.add(name).add(`${name}.gz`);
    await writeFile(join(out, name), contents);
    await writeFile(join(out, `${name}.gz`), await packed(contents));
  }
  const metafiles = [metafile, ...workerMetafiles];
  const licences = await thirdParty(join(ui, "node_modules"), metafiles, ["lucide-static"]);
  await writeFile(join(out, "THIRD-PARTY.md"), licences);
  const manifest = JSON.stringify(manifestOf(metafile.outputs), null, 2);
  await writeFile(join(out, "manifest.json"), `${manifest}\n`);
  for (const old of await readdir(out))
    if (!names.has(old) && !["manifest.json", "THIRD-PARTY.md"].includes(old)) await rm(join(out, old));
}

const seen = [];
const writer = {
  name: "writer",
  setup(build) {
    build.onStart(() => void seen.splice(0));
    build.onEnd(async (result) => {
      if (result.errors.length) return;
      await write(result, seen);
      if (values.watch) console.log(`${new Date().toLocaleTimeString()} built`);
    });
  },
};

const builder = await context({
  absWorkingDir: ui,
  entryPoints: ["src/main.tsx", "src/style/main.css"],
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  metafile: true,
  write: false,
  outdir: out,
  publicPath: "/ui/",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
  plugins: [sprite, workers(seen), together([sprite, workers([])]), writer],
});
if (values.watch) {
  await builder.watch();
} else {
  try {
    await builder.rebuild();
  } finally {
    await builder.dispose();
  }
}
