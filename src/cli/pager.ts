import { spawn } from 'node:child_process';

/** The pager to use: GW_PAGER, PAGER, else less; null: none, by an empty name, `cat`, or a terminal without abilities. */
export function pagerOf(env: Readonly<Record<string, string | undefined>>): readonly string[] | null {
  const words = (env.GW_PAGER ?? env.PAGER ?? 'less').split(' ').filter((word) => word !== '');
  return words.length === 0 || words[0] === 'cat' || env.TERM === 'dumb' ? null : words;
}

/**
 * Shows a text through a pager on the terminal, and waits for its end. false: there is no such program, and nothing was
 * shown. A reader who leaves before the end is no error. Ctrl-C belongs to the pager meanwhile.
 */
export async function showThroughPager(text: string, [program = '', ...args]: readonly string[]): Promise<boolean> {
  const ignore = () => {};
  process.on('SIGINT', ignore);
  try {
    // As of git: leave when the text fits, show colours, keep the text on the screen.
    const env = { ...process.env, LESS: process.env.LESS ?? 'FRX' };
    const pager = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'], env });
    const isStarted = await new Promise<boolean>((resolve) => {
      pager.once('spawn', () => resolve(true));
      pager.once('error', () => resolve(false));
    });
    if (!isStarted) return false;
    const ended = new Promise((resolve) => pager.once('close', resolve));
    pager.stdin.on('error', ignore);
    pager.stdin.end(text);
    await ended;
    return true;
  } finally {
    process.off('SIGINT', ignore);
  }
}
