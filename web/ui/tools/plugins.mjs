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

const SHARED_BY = 2;
const MAIN = "src/main.tsx";
// What pages share of the kit, in chunks: the module that all pages with such parts import → the parts that it takes
// along, of those that are left.
const SHARED = new Map([
  ["src/kit/page.tsx", ({ users }) => users.has(MAIN)],
  ["src/kit/charts/figure.tsx", ({ path }) => path.startsWith("src/kit/charts/")],
  ["src/kit/form/form.tsx", ({ path }) => /^src\/kit\/form\/(fields|form|form-dialog)\.tsx$/.test(path)],
  ["src/kit/data/loaded.tsx", () => true],
]);

/** The modules of the kit, each with the entry points of chunks that need it. */
async function modulesOfKit(plugins) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [MAIN],
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
  const found = new Map();
  const visit = (path, seen, entry) => {
    if (seen.has(path)) return;
    seen.add(path);
    if (!found.has(path)) found.set(path, { path, users: new Set() });
    found.get(path).users.add(entry);
    for (const { path: next, kind } of metafile.inputs[path].imports)
      if (kind === "import-statement") visit(next, seen, entry);
  };
  for (const { entryPoint } of Object.values(metafile.outputs))
    if (entryPoint) visit(entryPoint, new Set(), entryPoint);
  return [...found.values()].filter(({ path }) => path.startsWith("src/kit/"));
}

/** Sorts what at least `SHARED_BY` pages or other chunks import into the groups of `SHARED`. */
async function groups(plugins) {
  let left = (await modulesOfKit(plugins)).filter(({ users }) => users.size >= SHARED_BY);
  const found = new Map();
  for (const [anchor, takes] of SHARED) {
    const taken = left.filter(takes);
    left = left.filter((module) => !taken.includes(module));
    found.set(
      anchor,
      taken
        .map(({ path }) => path)
        .filter((path) => path !== anchor)
        .sort(),
    );
  }
  return found;
}

/**
 * Puts what several pages share of the kit into a few chunks: what the frame needs too, charts, forms, and the rest.
 * esbuild makes a chunk for each set of pages that share something, so ninety small ones, each packed alone. Therefore
 * one module of each group imports the others too.
 */
export function together(others) {
  return {
    name: "together",
    setup(context) {
      let sorted = null;
      context.onStart(() => {
        sorted = null;
      });
      context.onLoad({ filter: /src\/kit\/.*\.tsx$/ }, async ({ path }) => {
        sorted ??= groups(others);
        const modules = (await sorted).get(relative(root, path));
        if (!modules) return null;
        const imports = modules.map((module) => {
          const to = relative(dirname(path), join(root, module)).replace(/\.tsx?$/, "");
          return `import "${to.startsWith(".") ? to : `./${to}`}";`;
        });
        return { contents: [await readFile(path, "utf8"), ...imports].join("\n"), loader: "tsx" };
      });
    },
  };
}
