import { createHash } from 'node:crypto';
import { type Entry, Refused } from '../storage.ts';
import type { Call, Program } from './program.ts';

const ANY = Number.POSITIVE_INFINITY;
/** The system partition, which is full. */
const SYSTEM_KIB = 2 * 1024 ** 2;

/** Joins what `work` returns for every word. Failures are reported for each and do not end the others. */
async function each(call: Call, work: (path: string) => string | Promise<string>): Promise<string> {
  const problems: string[] = [];
  const parts: string[] = [];
  for (const word of call.words) {
    try {
      parts.push(await work(word));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problems.push(`${word}: ${error.message}`);
    }
  }
  if (problems.length === 0) return parts.join('');
  await call.out(parts.join(''));
  throw new Refused(problems.join('\n'));
}

function longLine(name: string, { content, mode, mtimeS }: Entry): string {
  const letters = [...'rwxrwxrwx'].map((letter, index) => (mode & (0o400 >> index) ? letter : '-')).join('');
  const size = String(content?.size ?? 4096).padStart(10);
  const when = new Date(mtimeS * 1000).toISOString().slice(0, 16).replace('T', ' ');
  return `${content ? '-' : 'd'}${letters} 1 shell shell ${size} ${when} ${name}\n`;
}

function list({ words: [path = '.'], options, at, device: { storage } }: Call): string {
  const entry = storage.find(at(path));
  const rows = entry.content || options.has('-d') ? [[path, entry] as const] : storage.list(at(path));
  return rows
    .filter(([name]) => options.has('-a') || name === path || !name.startsWith('.'))
    .map(([name, row]) => (options.has('-l') ? longLine(name, row) : `${name}\n`))
    .join('');
}

function freeSpace({ words: [path = '/data'], at, device: { storage } }: Call): string {
  storage.find(at(path));
  const isData = /^\/(data|sdcard)(\/|$)/.test(at(path));
  const sizeKib = isData ? storage.capacityBytes / 1024 : SYSTEM_KIB;
  const freeKib = isData ? Math.floor(storage.freeBytes() / 1024) : 0;
  const percent = Math.ceil(((sizeKib - freeKib) / sizeKib) * 100);
  const numbers = [sizeKib, sizeKib - freeKib, freeKib].map((amount) => String(amount).padStart(9)).join(' ');
  const [name, place] = isData ? ['/dev/block/dm-38', '/data'] : ['/dev/block/dm-6 ', '/'];
  return `Filesystem       1K-blocks      Used Available Use% Mounted on\n${name} ${numbers} ${percent}% ${place}\n`;
}

/** Programs for files and text, after those of Android's toybox. */
export const filePrograms: Readonly<Record<string, Program>> = {
  cat: {
    options: '',
    words: [0, ANY],
    async run(call) {
      if (call.words.length === 0) for await (const bytes of call.stdin) if (!(await call.out(bytes))) break;
      return each(call, (path) => call.out(call.device.storage.bytes(call.at(path))).then(() => ''));
    },
  },
  cd: {
    words: [0, 1],
    run({ words: [path = '/'], at, enter, device: { storage } }) {
      storage.list(at(path));
      enter(at(path));
      return '';
    },
  },
  df: { options: '-k', words: [0, 1], run: freeSpace },
  echo: { words: [0, ANY], run: ({ words }) => `${words.join(' ')}\n` },
  ls: { options: '-1 -a -d -l', words: [0, 1], run: list },
  mkdir: {
    options: '-p',
    words: [1, ANY],
    run: (call) =>
      each(call, (path) => {
        call.device.storage.makeFolder(call.at(path));
        return '';
      }),
  },
  pwd: { options: '', words: [0, 0], run: ({ at }) => `${at('.')}\n` },
  rm: {
    options: '-f -r',
    words: [1, ANY],
    run: (call) =>
      each(call, (path) => {
        const { storage } = call.device;
        try {
          storage.remove(call.at(path), call.options.has('-r'));
        } catch (error) {
          if (!call.options.has('-f')) throw error;
        }
        return '';
      }),
  },
  sha256sum: {
    options: '',
    words: [0, ANY],
    async run(call) {
      if (call.words.length > 0) {
        return each(call, (path) => `${call.device.storage.read(call.at(path)).sha256}  ${path}\n`);
      }
      const hash = createHash('sha256');
      for await (const bytes of call.stdin) hash.update(bytes);
      return `${hash.digest('hex')}  -\n`;
    },
  },
};
