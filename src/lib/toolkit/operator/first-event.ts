/**
 * The data of the first whole event of this name in a stream of server-sent events; null: none yet. A block ends with an
 * empty line, so a half-received one is never taken for a whole one.
 * @source WHATWG HTML, 'Server-sent events', for line ends by LF as the gateway sends them
 */
export function firstEvent(stream: string, name: string): string | null {
  const blocks = stream.split('\n\n').slice(0, -1);
  for (const block of blocks) {
    const lines = block.split('\n');
    if (!lines.includes(`event: ${name}`)) continue;
    return lines.flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : [])).join('\n');
  }
  return null;
}
