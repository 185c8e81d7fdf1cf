import type { Program } from '../process.ts';
import type { Entry } from '../storage.ts';
import { toy } from '../toy.ts';

const KIB = 1024;
const BLOCK = 4096;
/** The partition of the system itself, full as such partitions are. */
const SYSTEM_BYTES = 2 * KIB ** 3;

type Row = readonly [name: string, entry: Entry];

function modeText({ kind, mode }: Entry): string {
  const letters = [...'rwxrwxrwx'].map((letter, index) => (mode & (0o400 >> index) ? letter : '-')).join('');
  return `${kind === 'folder' ? 'd' : kind === 'link' ? 'l' : '-'}${letters}`;
}

const sizeOf = (entry: Entry) =>
  entry.kind === 'file' ? entry.content.size : entry.kind === 'link' ? entry.target.length : BLOCK;
const blocksOf = (rows: readonly Row[]) =>
  rows.reduce((sum, [, entry]) => sum + (entry.kind === 'link' ? 0 : Math.ceil(sizeOf(entry) / BLOCK) * 4), 0);

function shortSize(bytes: number): string {
  if (bytes < KIB) return String(bytes);
  let number = bytes;
  let unit = '';
  for (const next of 'KMGT') {
    if (number < 1000) break;
    number /= KIB;
    unit = next;
  }
  return `${number < 10 ? number.toFixed(1) : Math.round(number)}${unit}`;
}

function longLine([name, entry]: Row, isShort: boolean): string {
  const owner = entry.uid === 2000 ? 'shell  shell ' : entry.uid === 1000 ? 'system system' : 'root   root  ';
  const when = new Date(entry.mtimeS * 1000).toISOString().slice(0, 16).replace('T', ' ');
  const arrow = entry.kind === 'link' ? ` -> ${entry.target}` : '';
  const size = isShort ? shortSize(sizeOf(entry)) : String(sizeOf(entry));
  return `${modeText(entry)} 1 ${owner} ${size.padStart(10)} ${when} ${name}${arrow}\n`;
}

const ls = toy('ls', {
  usage: '[-1AadhlRrSt] [FILE…]',
  flags: '1AadhlRrSt',
  async run(process) {
    const { options, files, out } = process;
    const isLong = options.has('l');
    let code = 0;

    function sorted(rows: readonly Row[]): readonly Row[] {
      const order = [...rows].sort(([one, first], [other, second]) => {
        const by = options.has('t')
          ? second.mtimeS - first.mtimeS
          : options.has('S')
            ? sizeOf(second) - sizeOf(first)
            : 0;
        return by || Number(one > other) - Number(one < other);
      });
      return options.has('r') ? order.reverse() : order;
    }
    const show = (rows: readonly Row[]) =>
      out(rows.map((row) => (isLong ? longLine(row, options.has('h')) : `${row[0]}\n`)).join(''));

    async function listFolder(path: string, entry: Entry, isNamed: boolean): Promise<void> {
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
      const rows = sorted([...own, ...found.filter(([name]) => isAll || !name.startsWith('.'))]);
      if (isNamed) await out(`${isFirst ? '' : '\n'}${path}:\n`);
      isFirst = false;
      if (isLong) await out(`total ${blocksOf(rows)}\n`);
      await show(rows);
      if (!options.has('R')) return;
      for (const [name, row] of rows) {
        if (row.kind === 'folder' && name !== '.' && name !== '..')
          await listFolder(`${path === '/' ? '' : path}/${name}`, row, true);
      }
    }

    const paths = process.operands.length === 0 ? ['.'] : process.operands;
    const single: Row[] = [];
    const folders: Row[] = [];
    for (const path of paths) {
      const entry = files.find(path, !isLong || path.endsWith('/'));
      if (typeof entry === 'string') code = await process.fail(`${path}: ${entry}`);
      else (entry.kind === 'folder' && !options.has('d') ? folders : single).push([path, entry]);
    }
    let isFirst = single.length === 0;
    await show(sorted(single));
    for (const [path, entry] of sorted(folders)) await listFolder(path, entry, paths.length > 1 || options.has('R'));
    return code;
  },
});

const stat = toy('stat', {
  usage: '[-L] [-c FORMAT] FILE…',
  flags: 'L',
  valued: 'c',
  least: 1,
  async run({ options, operands, files, out, fail }) {
    const format = options.get('c');
    let code = 0;
    for (const path of operands) {
      const entry = files.find(path, options.has('L'));
      if (typeof entry === 'string') {
        code = await fail(`'${path}': ${entry}`);
        continue;
      }
      const signs: Readonly<Record<string, string>> = {
        '%%': '%',
        '%s': String(sizeOf(entry)),
        '%n': path,
        '%a': (entry.mode & 0o777).toString(8),
        '%A': modeText(entry),
        '%Y': String(entry.mtimeS),
        '%u': String(entry.uid),
        '%F': { file: 'regular file', folder: 'directory', link: 'symbolic link' }[entry.kind],
      };
      const text = `  File: ${path}\n  Size: ${signs['%s']}\t ${signs['%F']}\nAccess: (0${signs['%a']}/${signs['%A']})\n`;
      await out(format === undefined ? text : `${format.replace(/%[A-Za-z%]/g, (sign) => signs[sign] ?? '?')}\n`);
    }
    return code;
  },
});

const df = toy('df', {
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

export const listingPrograms: Readonly<Record<string, Program>> = { ls, stat, df };
