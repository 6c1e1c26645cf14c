// Compiles every `*.test.ts` into a temporary folder and runs `node --test` on them.
//   node tools/test.mjs [part of a path …]

import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const ui = resolve(import.meta.dirname, "..");
const wanted = process.argv.slice(2);
const files = (await readdir(join(ui, "src"), { recursive: true }))
  .filter((file) => file.endsWith(".test.ts"))
  .filter((file) => !wanted.length || wanted.some((part) => file.includes(part)))
  .map((file) => join("src", file));
const folder = await mkdtemp(join(tmpdir(), "watchpost-ui-"));
try {
  await build({
    absWorkingDir: ui,
    entryPoints: files,
    outbase: "src",
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    jsx: "automatic",
    jsxImportSource: "preact",
    sourcemap: "inline",
    logLevel: "warning",
  });
  const compiled = files.map((file) => join(folder, file.slice(4).replace(/\.ts$/, ".mjs")));
  const { status } = spawnSync(
    process.execPath,
    ["--enable-source-maps", "--test", "--test-reporter=spec", ...compiled],
    {
      stdio: "inherit",
    },
  );
  process.exitCode = status ?? 1;
} finally {
  await rm(folder, { recursive: true });
}
