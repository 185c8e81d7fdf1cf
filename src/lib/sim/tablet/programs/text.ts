import type { Process, Program } from '../process.ts';
import { toy } from '../toy.ts';

const LONGEST_SLEEP_S = 86_400;
const LONGEST_PRINT = 1024 * 1024;

function unescaped(text: string): string {
  return text.replace(/\\([nrt0\\])/g, (_, char: string) => ({ n: '\n', r: '\r', t: '\t', '0': '\0' })[char] ?? '\\');
}

const echo: Program = async ({ words, out }) => {
  const first = words.findIndex((word) => !/^-[neE]+$/.test(word));
  const rest = first === -1 ? [] : words.slice(first);
  const options = words.slice(0, first === -1 ? words.length : first).join('');
  const text = rest.join(' ');
  await out(`${options.includes('e') ? unescaped(text) : text}${options.includes('n') ? '' : '\n'}`);
  return 0;
};

const printf: Program = async ({ words, out, err }) => {
  const [pattern, ...values] = words;
  if (pattern === undefined) {
    await err('printf: Needs 1 argument\n');
    return 1;
  }
  const format = unescaped(pattern);
  let next = 0;
  let text = '';
  let problem: string | undefined;
  const put = (sign: string): string => {
    if (sign === '%%') return '%';
    const value = values[next] ?? '';
    if (sign !== '%s' && sign !== '%d') {
      problem ??= `bad '${sign}'@${next + 1}`;
      return '';
    }
    next += 1;
    if (sign === '%s') return value;
    if (!/^-?\d*$/.test(value)) problem ??= `bad number '${value}'`;
    return value === '' ? '0' : value;
  };
  // The pattern comes again as long as there are values for it.
  do {
    const before = next;
    text += format.replace(/%(?:%|[^A-Za-z%]*[A-Za-z]?)/g, put);
    if (next === before) break;
    if (text.length > LONGEST_PRINT) problem ??= 'too long for this simulated tablet';
  } while (next < values.length && problem === undefined);
  await out(text);
  if (problem === undefined) return 0;
  await err(`printf: ${problem}\n`);
  return 1;
};

const unitS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const sleep = toy('sleep', {
  usage: 'DURATION[smhd]…',
  least: 1,
  async run({ operands, device, signal, fail }) {
    let seconds = 0;
    for (const text of operands) {
      const found = /^(\d*\.?\d+)([smhd]?)$/.exec(text);
      if (!found) return fail(`bad number '${text}'`);
      seconds += Number(found[1]) * (unitS[found[2] || 's'] ?? 1);
    }
    if (seconds > LONGEST_SLEEP_S) return fail('this simulated tablet sleeps a day at most');
    try {
      await device.clock.sleep(seconds * 1000, signal);
    } catch {
      return 130;
    }
    return 0;
  },
});

const id = toy('id', {
  usage: '[-ugGn]',
  flags: 'ugGn',
  most: 0,
  async run({ options, out, fail }) {
    const groups = [
      [2000, 'shell'],
      [1004, 'input'],
      [1007, 'log'],
      [1011, 'adb'],
      [1015, 'sdcard_rw'],
      [3003, 'inet'],
    ] as const;
    const isOne = options.has('u') || options.has('g');
    const asked = options.has('G') ? groups : isOne ? groups.slice(0, 1) : [];
    if (asked.length === 0 && options.has('n')) return fail("'n' needs 'u', 'g' or 'G'");
    const all = groups.map(([number, name]) => `${number}(${name})`).join(',');
    if (asked.length === 0) await out(`uid=2000(shell) gid=2000(shell) groups=${all} context=u:r:shell:s0\n`);
    else await out(`${asked.map(([number, name]) => (options.has('n') ? name : number)).join(' ')}\n`);
    return 0;
  },
});

class BadTest extends Error {}

function isTrue(words: readonly string[], process: Process): boolean {
  const [one = '', two = '', three = ''] = words;
  if (words.length === 0) return false;
  if (words.length === 1) return one !== '';
  const compared = words.length === 3 ? comparisons.get(two) : undefined;
  if (compared) return compared(one, three);
  if (one === '!') return !isTrue(words.slice(1), process);
  if (words.length !== 2) throw new BadTest(words.length === 3 ? `unknown operator ${two}` : 'too many arguments');
  if (one === '-n') return two !== '';
  if (one === '-z') return two === '';
  const entry = process.files.find(two, one !== '-L' && one !== '-h');
  const kind = typeof entry === 'string' ? undefined : entry.kind;
  if (one === '-e') return kind !== undefined;
  if (one === '-f') return kind === 'file';
  if (one === '-d') return kind === 'folder';
  if (one === '-L' || one === '-h') return kind === 'link';
  if (one === '-s') return typeof entry === 'object' && (entry.kind !== 'file' || entry.content.size > 0);
  throw new BadTest(`unknown operator ${one}`);
}

function integer(text: string): number {
  if (!/^\s*[-+]?\d{1,15}\s*$/.test(text)) throw new BadTest(`bad number '${text}'`);
  return Number(text);
}

const comparisons: ReadonlyMap<string, (one: string, other: string) => boolean> = new Map([
  ['=', (one, other) => one === other],
  ['==', (one, other) => one === other],
  ['!=', (one, other) => one !== other],
  ['-eq', (one, other) => integer(one) === integer(other)],
  ['-ne', (one, other) => integer(one) !== integer(other)],
  ['-gt', (one, other) => integer(one) > integer(other)],
  ['-ge', (one, other) => integer(one) >= integer(other)],
  ['-lt', (one, other) => integer(one) < integer(other)],
  ['-le', (one, other) => integer(one) <= integer(other)],
]);

const test =
  (name: string): Program =>
  async (process) => {
    try {
      if (name === '[' && process.words.at(-1) !== ']') throw new BadTest('missing ]');
      return isTrue(name === '[' ? process.words.slice(0, -1) : process.words, process) ? 0 : 1;
    } catch (error) {
      if (!(error instanceof BadTest)) throw error;
      await process.err(`${name}: ${error.message}\n`);
      return 2;
    }
  };

const date = toy('date', {
  usage: '[-u] [+FORMAT]',
  flags: 'u',
  most: 1,
  async run({ operands, device, out, fail }) {
    const now = device.clock.wall();
    const iso = now.toISOString();
    const signs: Readonly<Record<string, string>> = {
      '%%': '%',
      '%s': String(Math.floor(now.getTime() / 1000)),
      '%Y': String(now.getUTCFullYear()),
      '%m': iso.slice(5, 7),
      '%d': iso.slice(8, 10),
      '%H': iso.slice(11, 13),
      '%M': iso.slice(14, 16),
      '%S': iso.slice(17, 19),
      '%F': iso.slice(0, 10),
      '%T': iso.slice(11, 19),
      '%Z': 'UTC',
      '%z': '+0000',
    };
    const [format] = operands;
    if (format === undefined) {
      await out(`${now.toUTCString().replace(/^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/, '$1 $3 $2 $5 UTC $4')}\n`);
      return 0;
    }
    // Anything else would set the clock.
    if (!format.startsWith('+')) return fail('cannot set date: Operation not permitted');
    await out(`${format.slice(1).replace(/%[A-Za-z%]/g, (sign) => signs[sign] ?? sign)}\n`);
    return 0;
  },
});

const uptime = toy('uptime', {
  usage: '',
  most: 0,
  async run({ device, out }) {
    const minutes = Math.floor(device.uptimeMs() / 60_000);
    await out(` up ${minutes} min,  0 users,  load average: 0.10, 0.10, 0.10\n`);
    return 0;
  },
});

const uname = toy('uname', {
  usage: '[-asnrvmo]',
  flags: 'asnrvmo',
  most: 0,
  async run({ options, out }) {
    const shown = Object.entries({ s: 'Linux', n: 'localhost', r: '5.10.0', v: '#1', m: 'aarch64', o: 'Toybox' });
    const asked = shown.filter(([letter]) => options.has('a') || options.has(letter));
    await out(`${(asked.length === 0 ? shown.slice(0, 1) : asked).map(([, text]) => text).join(' ')}\n`);
    return 0;
  },
});

const says = (name: string, text: (process: Process) => string): Program =>
  toy(name, {
    usage: '',
    most: 0,
    run: async (process) => Number(!(await process.out(`${text(process)}\n`))),
  });

export const textPrograms: Readonly<Record<string, Program>> = {
  echo,
  printf,
  sleep,
  id,
  test: test('test'),
  '[': test('['),
  date,
  uptime,
  true: () => 0,
  ':': () => 0,
  false: () => 1,
  sync: () => 0,
  pwd: says('pwd', ({ folder }) => folder),
  whoami: says('whoami', () => 'shell'),
  uname,
};
