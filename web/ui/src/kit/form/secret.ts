// Secrets of API keys, which are made in the browser: the server keeps only their hash.

/** Bytes as base64url without padding. */
export function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** A new secret of 32 random bytes. */
export function newSecret(): string {
  return `wp_${encode(crypto.getRandomValues(new Uint8Array(32)))}`;
}
