// esbuild plugins: the icon sprite (`sprite:icons`) and workers (`worker:./name.ts`), which become
// files of the bundle, and the import is the URL of that file; and one chunk for what pages share.

import { readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const ICONS = join(root, "node_modules/lucide-static/icons");
const NAMES = join(root, "src/kit/icon-names.ts");

async function symbolOf(name) {
  const svg = await readFile(join(ICONS, `${name}.svg`), "utf8");
  const shapes = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>"));
  return `<symbol id="${name}" viewBox="0 0 24 24">${shapes.replace(/\s*\n\s*/g, "")}</symbol>`;
}

/** The icons of `src/kit/icon-names.ts` as one SVG file. */
export const sprite = {
  name: "sprite",
  setup(context) {
    context.onResolve({ filter: /^sprite:icons$/ }, () => ({
      path: "icons.svg",
      namespace: "sprite",
      watchFiles: [NAMES],
    }));
    context.onLoad({ filter: /.*/, namespace: "sprite" }, async () => {
      const source = await readFile(NAMES, "utf8");
      const list = source.slice(source.indexOf("["), source.indexOf("]"));
      const names = [...list.matchAll(/"([a-z0-9-]+)"/g)].map((match) => match[1]);
      const symbols = await Promise.all(names.map(symbolOf));
      const contents = `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("")}</svg>`;
      return { contents, loader: "file", watchFiles: [NAMES] };
    });
  },
};

/** Builds each worker as a script of its own. `seen` collects the metafiles. */
export function workers(seen) {
  return {
    name: "workers",
    setup(context) {
      context.onResolve({ filter: /^worker:/ }, ({ path: asked, resolveDir }) => {
        const source = resolve(resolveDir, asked.slice("worker:".length));
        const name = `${basename(source, ".ts")}.js`;
        // Relative, because the path is a part of the hashes: they must not depend on the checkout.
        const path = relative(root, join(dirname(source), name));
        return { path, namespace: "worker", pluginData: source };
      });
      context.onLoad({ filter: /.*/, namespace: "worker" }, async ({ pluginData }) => {
        const { outputFiles, metafile } = await build({
          absWorkingDir: root,
          entryPoints: [pluginData],
          bundle: true,
          write: false,
          metafile: true,
          format: "iife",
          target: "es2022",
          minify: context.initialOptions.minify,
        });
        seen.push(metafile);
        const watchFiles = Object.keys(metafile.inputs).map((input) => resolve(root, input));
        return { contents: outputFiles[0].contents, loader: "file", watchFiles };
      });
    },
  };
}

const SHARED_BY = 3;

/** The modules of the kit that at least `SHARED_BY` pages or other chunks import, as paths. */
async function sharedModules(plugins) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/main.tsx"],
    bundle: true,
    splitting: true,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    outdir: "unwritten",
    write: false,
    metafile: true,
    logLevel: "silent",
    plugins,
  });
  const users = new Map();
  const visit = (path, seen) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: next, kind } of metafile.inputs[path].imports)
      if (kind === "import-statement") visit(next, seen);
  };
  for (const { entryPoint } of Object.values(metafile.outputs)) {
    if (!entryPoint) continue;
    const reached = new Set();
    visit(entryPoint, reached);
    for (const path of reached) users.set(path, (users.get(path) ?? 0) + 1);
  }
  return [...users].filter(([path, count]) => path.startsWith("src/kit/") && count >= SHARED_BY).map(([path]) => path);
}

/**
 * Puts what several pages share of the kit into one chunk. esbuild makes a chunk for each set of pages that share
 * something, so ninety small ones, each packed alone. Therefore `kit/page.tsx`, which every page imports, imports
 * those modules too.
 */
export function together(others) {
  return {
    name: "together",
    setup(context) {
      context.onLoad({ filter: /src\/kit\/page\.tsx$/ }, async ({ path }) => {
        const shared = (await sharedModules(others))
          .map((module) => join(root, module))
          .filter((module) => module !== path);
        const imports = shared
          .sort()
          .map((module) => `import "./${relative(dirname(path), module).replace(/\.tsx?$/, "")}";`);
        return { contents: [await readFile(path, "utf8"), ...imports].join("\n"), loader: "tsx" };
      });
    },
  };
}
