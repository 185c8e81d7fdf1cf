/**
 * Finds the data of the first whole event of this name in a stream of server-sent events, given in parts of any length; null:
 * none yet. An event ends with an empty line, so a half-received one is never taken for a whole one. Each part is read once,
 * however long the stream.
 * @source WHATWG HTML, 'Server-sent events', for line ends by LF as the gateway sends them
 */
export function findEvent(name: string): (part: string) => string | null {
  let line: string[] = [];
  let lines: string[] = [];
  let found: string | null = null;

  function endLine(): void {
    const text = line.join('');
    line = [];
    if (text !== '') {
      lines.push(text);
      return;
    }
    if (found === null && lines.includes(`event: ${name}`)) {
      found = lines.flatMap((one) => (one.startsWith('data: ') ? [one.slice('data: '.length)] : [])).join('\n');
    }
    lines = [];
  }

  return (part) => {
    const [first = '', ...rest] = part.split('\n');
    line.push(first);
    for (const next of rest) {
      endLine();
      line.push(next);
    }
    return found;
  };
}
