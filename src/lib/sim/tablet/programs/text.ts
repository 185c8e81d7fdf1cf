import { type Program, readText } from '../process.ts';
import { createByteReader } from '../sync.ts';

const lines = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
const LONGEST_SLEEP_S = 600;

function unescaped(text: string): string {
  return text.replace(/\\([nrt\\])/g, (_, char: string) => ({ n: '\n', r: '\r', t: '\t' })[char] ?? '\\');
}

const echo: Program = async ({ words, out }) => {
  const first = words.findIndex((word) => !/^-[neE]+$/.test(word));
  const rest = first === -1 ? [] : words.slice(first);
  const options = words.slice(0, first === -1 ? words.length : first).join('');
  const text = rest.join(' ');
  await out(`${options.includes('e') ? unescaped(text) : text}${options.includes('n') ? '' : '\n'}`);
  return 0;
};

const printf: Program = async ({ words, out }) => {
  const [format = '', ...values] = words;
  let next = 0;
  await out(unescaped(format).replace(/%[sd%]/g, (sign) => (sign === '%%' ? '%' : (values[next++] ?? ''))));
  return 0;
};

/**
 * Whether a pattern is in a line: plain text with `^`, `$`, `.*` and, for -E, `|`. Expressions of a stranger could keep
 * this process busy for ever, so there are no others.
 */
function matcher(pattern: string, flags: string): (line: string) => boolean {
  const fold = (text: string) => (flags.includes('i') ? text.toLowerCase() : text);
  const isFixed = flags.includes('F');
  const choices = isFixed ? [pattern] : pattern.split(flags.includes('E') ? '|' : '\\|');
  const tests = choices.map((choice) => {
    const isBegin = !isFixed && choice.startsWith('^');
    const isEnd = !isFixed && choice.endsWith('$');
    const inner = fold(choice.slice(isBegin ? 1 : 0, isEnd ? -1 : undefined));
    const parts = isFixed ? [inner] : inner.split('.*').map((part) => part.replace(/\\(.)/g, '$1'));
    return (line: string): boolean => {
      let at = 0;
      for (const [index, part] of parts.entries()) {
        const mustEnd = isEnd && index === parts.length - 1;
        const found = mustEnd ? line.length - part.length : line.indexOf(part, at);
        const isThere = found >= at && line.startsWith(part, found);
        if (!isThere || (isBegin && index === 0 && found !== 0 && !line.startsWith(part))) return false;
        if (isBegin && index === 0 && mustEnd && found !== 0) return false;
        at = found + part.length;
      }
      return true;
    };
  });
  return (line) => tests.some((test) => test(fold(line)));
}

const grep: Program = async ({ words, stdin, out, device, err }) => {
  const flags = words.filter((word) => /^-[A-Za-z]+$/.test(word)).join('');
  const [pattern = '', ...files] = words.filter((word) => !/^-[A-Za-z]+$/.test(word));
  const matches = matcher(pattern, flags);
  let text = '';
  if (files.length === 0) text = await readText(stdin);
  for (const file of files) {
    const entry = device.storage.find(file);
    if (typeof entry === 'string' || entry.kind !== 'file') {
      await err(`grep: ${file}: ${typeof entry === 'string' ? entry : 'Is a directory'}\n`);
      return 2;
    }
    text += entry.content.head.toString('utf8');
  }
  const found = lines(text).filter((line) => matches(line) !== flags.includes('v'));
  if (flags.includes('c')) await out(`${found.length}\n`);
  else if (!flags.includes('q')) await out(found.map((line) => `${line}\n`).join(''));
  return found.length > 0 ? 0 : 1;
};

function ends(pick: (all: string[], count: number) => string[]): Program {
  return async ({ words, stdin, out }) => {
    const number = /-n?(\d+)/.exec(words.join(' ').replace('-n ', '-n'))?.[1];
    const picked = pick(lines(await readText(stdin)), Number(number ?? 10));
    await out(picked.map((line) => `${line}\n`).join(''));
    return 0;
  };
}

const wc: Program = async ({ words, stdin, out }) => {
  let bytes = 0;
  let newLines = 0;
  let count = 0;
  let isInWord = false;
  for (let piece = await stdin.read(); piece !== undefined; piece = await stdin.read()) {
    bytes += piece.length;
    for (const byte of piece) {
      if (byte === 10) newLines += 1;
      const isSpace = byte === 32 || (byte >= 9 && byte <= 13);
      if (!isSpace && !isInWord) count += 1;
      isInWord = !isSpace;
    }
  }
  const [flag] = words;
  if (flag === '-l') await out(`${newLines}\n`);
  else if (flag === '-c') await out(`${bytes}\n`);
  else if (flag === '-w') await out(`${count}\n`);
  else await out(`${newLines} ${count} ${bytes}\n`);
  return 0;
};

const tr: Program = async ({ words, stdin, out }) => {
  const [first = '', second = ''] = words.filter((word) => word !== '-d').map(unescaped);
  const isDelete = words.includes('-d');
  for (let piece = await stdin.read(); piece !== undefined; piece = await stdin.read()) {
    const text = [...piece.toString('latin1')].flatMap((char) => {
      const at = first.indexOf(char);
      if (at === -1) return [char];
      return isDelete ? [] : [second[Math.min(at, second.length - 1)] ?? char];
    });
    await out(Buffer.from(text.join(''), 'latin1'));
  }
  return 0;
};

const sort: Program = async ({ stdin, out }) => {
  const sorted = lines(await readText(stdin)).sort();
  await out(sorted.map((line) => `${line}\n`).join(''));
  return 0;
};

const sleep: Program = async ({ words, device, signal }) => {
  const seconds = Number(words[0]);
  if (!(seconds >= 0)) return 1;
  try {
    await device.clock.sleep(Math.min(seconds, LONGEST_SLEEP_S) * 1000, signal);
  } catch {
    return 130;
  }
  return 0;
};

const id: Program = async ({ words, out }) => {
  if (words[0] === '-u') await out('2000\n');
  else {
    const groups = '2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),3003(inet)';
    await out(`uid=2000(shell) gid=2000(shell) groups=${groups} context=u:r:shell:s0\n`);
  }
  return 0;
};

const test: Program = ({ words, device }) => {
  const given = words.at(-1) === ']' ? words.slice(0, -1) : words;
  const [one = '', two = '', three = ''] = given;
  const entry = () => device.storage.find(two);
  const isTrue = (() => {
    if (given.length === 1) return one !== '';
    if (one === '!') return two === '';
    if (one === '-n') return two !== '';
    if (one === '-z') return two === '';
    if (one === '-e') return typeof entry() === 'object';
    if (one === '-f') return kindOf(entry()) === 'file';
    if (one === '-d') return kindOf(entry()) === 'folder';
    if (two === '=' || two === '==') return one === three;
    if (two === '!=') return one !== three;
    if (two === '-eq') return Number(one) === Number(three);
    if (two === '-ne') return Number(one) !== Number(three);
    if (two === '-gt') return Number(one) > Number(three);
    if (two === '-ge') return Number(one) >= Number(three);
    if (two === '-lt') return Number(one) < Number(three);
    if (two === '-le') return Number(one) <= Number(three);
    return false;
  })();
  return isTrue ? 0 : 1;
};

const kindOf = (entry: { readonly kind: string } | string) => (typeof entry === 'string' ? undefined : entry.kind);

const date: Program = async ({ words, device, out }) => {
  const now = device.clock.wall();
  const two = (number: number) => String(number).padStart(2, '0');
  const signs: Readonly<Record<string, string>> = {
    '%s': String(Math.floor(now.getTime() / 1000)),
    '%Y': String(now.getUTCFullYear()),
    '%m': two(now.getUTCMonth() + 1),
    '%d': two(now.getUTCDate()),
    '%H': two(now.getUTCHours()),
    '%M': two(now.getUTCMinutes()),
    '%S': two(now.getUTCSeconds()),
    '%Z': 'UTC',
    '%z': '+0000',
  };
  const format = words.find((word) => word.startsWith('+'))?.slice(1);
  if (format !== undefined) await out(`${format.replace(/%[A-Za-z]/g, (sign) => signs[sign] ?? sign)}\n`);
  else await out(`${now.toUTCString().replace(/^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/, '$1 $3 $2 $5 UTC $4')}\n`);
  return 0;
};

const uptime: Program = async ({ device, out }) => {
  const minutes = Math.floor(device.uptimeMs() / 60_000);
  await out(` up ${minutes} min,  0 users,  load average: 0.10, 0.10, 0.10\n`);
  return 0;
};

const head: Program = async (process) => {
  const at = process.words.indexOf('-c');
  if (at === -1) return ends((all, count) => all.slice(0, count))(process);
  const reader = createByteReader(process.stdin);
  let missing = Number(process.words[at + 1]) || 0;
  while (missing > 0) {
    const bytes = await reader.some(missing);
    if (!bytes) break;
    missing -= bytes.length;
    await process.out(bytes);
  }
  return 0;
};

export const textPrograms: Readonly<Record<string, Program>> = {
  echo,
  printf,
  grep,
  head,
  tail: ends((all, count) => (count === 0 ? [] : all.slice(-count))),
  wc,
  tr,
  sort,
  sleep,
  id,
  test,
  '[': test,
  date,
  uptime,
  true: () => 0,
  ':': () => 0,
  false: () => 1,
  sync: () => 0,
  cd: () => 0,
  pwd: async ({ out }) => Number(!(await out('/\n'))),
  whoami: async ({ out }) => Number(!(await out('shell\n'))),
  uname: async ({ words, out }) =>
    Number(!(await out(words.includes('-a') ? 'Linux localhost 5.10.0 aarch64 Toybox\n' : 'Linux\n'))),
};
