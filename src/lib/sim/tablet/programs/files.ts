import { createHash } from 'node:crypto';
import { type Process, type Program, readOptions } from '../process.ts';
import { type Entry, NOT_KEPT } from '../storage.ts';

const KIB = 1024;

const cat: Program = async ({ words, stdin, out, err, device }) => {
  let code = 0;
  if (words.length === 0) {
    for (let bytes = await stdin.read(); bytes !== undefined; bytes = await stdin.read()) {
      if (!(await out(bytes))) break;
    }
  }
  for (const path of words) {
    const entry = device.storage.find(path);
    if (typeof entry === 'string' || entry.kind !== 'file') {
      await err(`cat: ${path}: ${typeof entry === 'string' ? entry : 'Is a directory'}\n`);
      code = 1;
    } else if (!entry.content.isWhole) {
      await err(`cat: ${path}: ${NOT_KEPT}\n`);
      code = 1;
    } else await out(entry.content.head);
  }
  return code;
};

function modeText({ kind, mode }: Entry): string {
  const letters = [...'rwxrwxrwx'].map((letter, index) => (mode & (0o400 >> index) ? letter : '-')).join('');
  return `${kind === 'folder' ? 'd' : kind === 'link' ? 'l' : '-'}${letters}`;
}

const sizeOf = (entry: Entry) => (entry.kind === 'file' ? entry.content.size : 4096);

function longLine(name: string, entry: Entry): string {
  const owner = entry.uid === 2000 ? 'shell  shell ' : entry.uid === 1000 ? 'system system' : 'root   root  ';
  const when = new Date(entry.mtimeS * 1000).toISOString().slice(0, 16).replace('T', ' ');
  const arrow = entry.kind === 'link' ? ` -> ${entry.target}` : '';
  return `${modeText(entry)} 1 ${owner} ${String(sizeOf(entry)).padStart(10)} ${when} ${name}${arrow}\n`;
}

const ls: Program = async ({ words, out, err, device }) => {
  const { options, rest } = readOptions(words);
  const flags = [...options.keys()].join('');
  const isLong = flags.includes('l');
  let code = 0;
  for (const path of rest.length === 0 ? ['/'] : rest) {
    const entry = device.storage.find(path, !isLong || path.endsWith('/'));
    if (typeof entry === 'string') {
      await err(`ls: ${path}: ${entry}\n`);
      code = 1;
      continue;
    }
    const rows = entry.kind === 'folder' && !flags.includes('d') ? device.storage.list(path) : [[path, entry] as const];
    if (typeof rows === 'string') {
      await err(`ls: ${path}: ${rows}\n`);
      code = 1;
      continue;
    }
    await out(rows.map(([name, row]) => (isLong ? longLine(name, row) : `${name}\n`)).join(''));
  }
  return code;
};

const rm: Program = async ({ words, err, device }) => {
  const { options, rest } = readOptions(words);
  const flags = [...options.keys()].join('');
  let code = 0;
  for (const path of rest) {
    const problem = device.storage.remove(path, /r/i.test(flags));
    if (problem === undefined || (problem === 'No such file or directory' && flags.includes('f'))) continue;
    await err(`rm: ${path}: ${problem}\n`);
    code = 1;
  }
  return code;
};

const mkdir: Program = async ({ words, err, device }) => {
  const { options, rest } = readOptions(words, ['-m']);
  let code = 0;
  for (const path of rest) {
    const problem = device.storage.makeFolder(path, options.has('-p'));
    if (problem === undefined) continue;
    await err(`mkdir: '${path}': ${problem}\n`);
    code = 1;
  }
  return code;
};

function copy(name: string, isMove: boolean): Program {
  return async ({ words, err, device }) => {
    const [from = '', to = ''] = readOptions(words).rest;
    const entry = device.storage.find(from);
    const target = device.storage.find(to);
    const isFolder = typeof target === 'object' && target.kind === 'folder';
    const path = isFolder ? `${to}/${from.slice(from.lastIndexOf('/') + 1)}` : to;
    const problem =
      typeof entry === 'string'
        ? entry
        : entry.kind !== 'file'
          ? 'Is a directory'
          : !isMove && entry.content.size > device.storage.freeBytes()
            ? 'No space left on device'
            : device.storage.write(path, entry.content, entry.mode, entry.mtimeS);
    if (problem !== undefined) {
      await err(`${name}: ${from}: ${problem}\n`);
      return 1;
    }
    if (isMove) device.storage.remove(from, false);
    return 0;
  };
}

function sum(name: string, digest: (process: Process, path: string) => string | { problem: string }): Program {
  return async (process) => {
    let code = 0;
    const isBrief = process.words.includes('-b');
    for (const path of readOptions(process.words).rest) {
      const found = digest(process, path);
      if (typeof found === 'string') await process.out(isBrief ? `${found}\n` : `${found}  ${path}\n`);
      else {
        await process.err(`${name}: ${path}: ${found.problem}\n`);
        code = 1;
      }
    }
    return code;
  };
}

function wholeContent({ device }: Process, path: string) {
  const entry = device.storage.find(path);
  if (typeof entry === 'string') return { problem: entry };
  return entry.kind === 'file' ? entry.content : { problem: 'Is a directory' };
}

const sha256sum = sum('sha256sum', (process, path) => {
  const content = wholeContent(process, path);
  return 'problem' in content ? content : content.sha256;
});

const md5sum = sum('md5sum', (process, path) => {
  const content = wholeContent(process, path);
  if ('problem' in content) return content;
  if (!content.isWhole) return { problem: NOT_KEPT };
  return createHash('md5').update(content.head).digest('hex');
});

const stat: Program = async ({ words, out, err, device }) => {
  const { options, rest } = readOptions(words, ['-c']);
  const [path = ''] = rest;
  const entry = device.storage.find(path, false);
  if (typeof entry === 'string') {
    await err(`stat: '${path}': ${entry}\n`);
    return 1;
  }
  const signs: Readonly<Record<string, string>> = {
    '%s': String(sizeOf(entry)),
    '%n': path,
    '%a': (entry.mode & 0o777).toString(8),
    '%A': modeText(entry),
    '%Y': String(entry.mtimeS),
    '%u': String(entry.uid),
    '%F': { file: 'regular file', folder: 'directory', link: 'symbolic link' }[entry.kind],
  };
  const format = options.get('-c');
  if (format !== undefined) await out(`${format.replace(/%[A-Za-z]/g, (sign) => signs[sign] ?? sign)}\n`);
  else
    await out(`  File: ${path}\n  Size: ${signs['%s']}\t ${signs['%F']}\nAccess: (0${signs['%a']}/${signs['%A']})\n`);
  return 0;
};

const df: Program = async ({ words, out, device }) => {
  const { options } = readOptions(words);
  const { capacityBytes } = device.storage;
  const free = device.storage.freeBytes();
  const used = capacityBytes - free;
  const percent = Math.ceil((used / capacityBytes) * 100);
  if (options.has('-h')) {
    const short = (bytes: number) => `${(bytes / KIB ** 3).toFixed(1)}G`;
    await out('Filesystem        Size  Used Avail Use% Mounted on\n');
    await out(`/dev/block/dm-38   ${short(capacityBytes)}  ${short(used)}  ${short(free)} ${percent}% /data\n`);
    return 0;
  }
  const blocks = (bytes: number) => String(Math.floor(bytes / KIB)).padStart(9);
  await out('Filesystem       1K-blocks      Used Available Use% Mounted on\n');
  await out(`/dev/block/dm-38 ${blocks(capacityBytes)} ${blocks(used)} ${blocks(free)}  ${percent}% /data\n`);
  return 0;
};

const chmod: Program = async ({ words, err, device }) => {
  const [mode = '', path = ''] = words;
  const entry = device.storage.find(path);
  if (typeof entry === 'string' || !/^[0-7]{3,4}$/.test(mode)) {
    await err(`chmod: ${path}: ${typeof entry === 'string' ? entry : 'bad mode'}\n`);
    return 1;
  }
  if (entry.kind === 'file') device.storage.write(path, entry.content, Number.parseInt(mode, 8), entry.mtimeS);
  return 0;
};

const touch: Program = ({ words, device }) => {
  for (const path of readOptions(words).rest) {
    if (typeof device.storage.find(path) === 'string') device.storage.write(path, device.storage.openSink().finish());
  }
  return 0;
};

export const filePrograms: Readonly<Record<string, Program>> = {
  cat,
  ls,
  rm,
  mkdir,
  cp: copy('cp', false),
  mv: copy('mv', true),
  sha256sum,
  md5sum,
  stat,
  df,
  chmod,
  touch,
};
