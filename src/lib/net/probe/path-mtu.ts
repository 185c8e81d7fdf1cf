/** Kernel information about one open TCP connection. */
export interface ConnectionInfo {
  /** Path MTU in bytes as currently known to the kernel; null when not reported. */
  readonly pathMtuBytes: number | null;
}

/**
 * Parses the output of `ss --tcp --info --numeric --no-header` for one connection. Unknown fields are skipped, so that
 * newer versions of `ss` are supported.
 */
export function parseConnectionInfo(text: string): ConnectionInfo {
  const words = text.slice(0, 16 * 1024).split(/\s+/);
  const pathMtu = words.map((word) => /^pmtu:(\d{1,7})$/.exec(word)?.[1]).find(Boolean);
  return { pathMtuBytes: pathMtu === undefined ? null : Number(pathMtu) };
}
