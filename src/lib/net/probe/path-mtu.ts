/** What the kernel says of one open TCP connection. */
export interface ConnectionInfo {
  /** Largest packet that the path takes, in bytes, as far as the kernel has learnt it; null where it does not say. */
  readonly pathMtuBytes: number | null;
}

/**
 * Reads what `ss --tcp --info --numeric --no-header` prints of one connection. Words that are not known are left out,
 * so that a newer `ss` is read as well.
 */
export function parseConnectionInfo(text: string): ConnectionInfo {
  const words = text.slice(0, 16 * 1024).split(/\s+/);
  const pathMtu = words.map((word) => /^pmtu:(\d{1,7})$/.exec(word)?.[1]).find(Boolean);
  return { pathMtuBytes: pathMtu === undefined ? null : Number(pathMtu) };
}
