import { type Program, toybox } from '../shell/process.ts';
import type { Entry } from '../storage.ts';

const KIB = 1024;
const BLOCK = 4096;
/** Size of the system partition, which is full. */
const SYSTEM_BYTES = 2 * KIB ** 3;

type Row = readonly [name: string, entry: Entry];

function modeText({ kind, mode }: Entry): string {
  const letters = [...'rwxrwxrwx'].map((letter, index) => (mode & (0o400 >> index) ? letter : '-')).join('');
  return `${kind === 'folder' ? 'd' : '-'}${letters}`;
}

const sizeOf = (entry: Entry) => (entry.kind === 'file' ? entry.content.size : BLOCK);
const blocksOf = (rows: readonly Row[]) =>
  rows.reduce((sum, [, entry]) => sum + Math.ceil(sizeOf(entry) / BLOCK) * 4, 0);

function longLine([name, entry]: Row): string {
  const owner = entry.uid === 2000 ? 'shell  shell ' : entry.uid === 1000 ? 'system system' : 'root   root  ';
  const when = new Date(entry.mtimeS * 1000).toISOString().slice(0, 16).replace('T', ' ');
  return `${modeText(entry)} 1 ${owner} ${String(sizeOf(entry)).padStart(10)} ${when} ${name}\n`;
}

const byName = (rows: readonly Row[]) => [...rows].sort(([one], [other]) => Number(one > other) - Number(one < other));

const ls = toybox('ls', {
  usage: '[-1Aadl] [FILE…]',
  flags: '1Aadl',
  async run(process) {
    const { options, files, out } = process;
    const isLong = options.has('l');
    let code = 0;
    const show = (rows: readonly Row[]) => out(rows.map((row) => (isLong ? longLine(row) : `${row[0]}\n`)).join(''));

    async function listFolder(path: string, entry: Entry, heading: string): Promise<void> {
      const found = files.list(path);
      if (typeof found === 'string') {
        code = await process.fail(`${path}: ${found}`);
        return;
      }
      const isAll = options.has('a') || options.has('A');
      const own: readonly Row[] = options.has('a')
        ? [
            ['.', entry],
            ['..', entry],
          ]
        : [];
      const rows = byName([...own, ...found.filter(([name]) => isAll || !name.startsWith('.'))]);
      await out(heading);
      if (isLong) await out(`total ${blocksOf(rows)}\n`);
      await show(rows);
    }

    const paths = process.operands.length === 0 ? ['.'] : process.operands;
    const single: Row[] = [];
    const folders: Row[] = [];
    for (const path of paths) {
      const entry = files.find(path);
      if (typeof entry === 'string') code = await process.fail(`${path}: ${entry}`);
      else (entry.kind === 'folder' && !options.has('d') ? folders : single).push([path, entry]);
    }
    await show(byName(single));
    for (const [index, [path, entry]] of byName(folders).entries()) {
      const gap = index > 0 || single.length > 0 ? '\n' : '';
      await listFolder(path, entry, paths.length > 1 ? `${gap}${path}:\n` : '');
    }
    return code;
  },
});

const df = toybox('df', {
  usage: '[-hk] [FILE…]',
  flags: 'hk',
  async run({ options, operands, files, device, out, fail }) {
    const { capacityBytes } = device.storage;
    const system = { device: '/dev/block/dm-6', place: '/', size: SYSTEM_BYTES, free: 0 };
    const data = { device: '/dev/block/dm-38', place: '/data', size: capacityBytes, free: files.freeBytes() };
    const shared = { ...data, device: '/dev/fuse', place: '/storage/emulated' };
    const asked: (typeof data)[] = operands.length === 0 ? [system, data, shared] : [];
    let code = 0;
    for (const path of operands) {
      const entry = files.find(path);
      if (typeof entry === 'string') code = await fail(`'${path}': ${entry}`);
      else {
        const at = files.path(path);
        asked.push(/^\/data(\/|$)/.test(at) ? data : /^\/storage\/emulated(\/|$)/.test(at) ? shared : system);
      }
    }
    if (asked.length === 0) return code;
    const isShort = options.has('h');
    const amount = (bytes: number) =>
      isShort ? `${(bytes / KIB ** 3).toFixed(1)}G`.padStart(5) : String(Math.floor(bytes / KIB)).padStart(9);
    await out(
      isShort
        ? 'Filesystem        Size  Used Avail Use% Mounted on\n'
        : 'Filesystem       1K-blocks      Used Available Use% Mounted on\n',
    );
    for (const { device: name, place, size, free } of asked) {
      const percent = Math.ceil(((size - free) / size) * 100);
      const numbers = [size, size - free, free].map(amount).join(' ');
      await out(`${name.padEnd(16)} ${numbers} ${`${percent}%`.padStart(4)} ${place}\n`);
    }
    return code;
  },
});

export const listingPrograms: Readonly<Record<string, Program>> = { ls, df };
