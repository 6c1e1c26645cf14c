interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): {
    createScriptURL(url: string): string;
  };
}

// The page's policy allows one maker of script URLs, and this one makes those of workers only.
const policy = (globalThis as { trustedTypes?: Policies }).trustedTypes?.createPolicy("wp", {
  createScriptURL(url) {
    if (!/^\/ui\/[\w.-]+$/.test(url)) throw new TypeError(`no worker: ${url}`);
    return url;
  },
});

/** Starts a worker of the bundle: `import url from "worker:./name.worker.ts"`. */
export function startWorker(url: string): Worker {
  return new Worker(policy ? policy.createScriptURL(url) : url);
}

/** The nonce for style sheets that a library creates. */
export function styleNonce(): string {
  return document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
}
