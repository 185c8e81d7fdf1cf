import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

// Long-running commands keep a listener until the end of their process.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);

/**
 * Runs the built command line once for each argument list on stdin, in this one process, and prints output and exit
 * code of each. Not for commands that end their process themselves.
 */
const [main = '', binary = ''] = process.argv.slice(2);
const gw = (await import(pathToFileURL(main).href)) as { main(argv: string[], root: string): Promise<void> };
const answer = process.stdout.write.bind(process.stdout);

function catchFrom(stream: NodeJS.WriteStream): string[] {
  const pieces: string[] = [];
  stream.write = ((piece: string | Uint8Array, ...more: readonly unknown[]) => {
    pieces.push(typeof piece === 'string' ? piece : Buffer.from(piece).toString());
    const written = more.find((one) => typeof one === 'function');
    if (written) setImmediate(written as () => void);
    return true;
  }) as typeof stream.write;
  return pieces;
}

const found: { code: number | string; stdout: string; stderr: string }[] = [];
for (const words of JSON.parse(await text(process.stdin)) as string[][]) {
  const [stdout, stderr] = [catchFrom(process.stdout), catchFrom(process.stderr)];
  process.exitCode = undefined;
  await gw.main(words, dirname(dirname(binary)));
  found.push({ code: process.exitCode ?? 0, stdout: stdout.join(''), stderr: stderr.join('') });
}
process.exitCode = 0;
answer(JSON.stringify(found));
