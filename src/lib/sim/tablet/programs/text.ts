import type { Process, Program } from '../shell/process.ts';
import { toybox } from '../shell/toybox.ts';

const MAX_SLEEP_S = 86_400;

const echo: Program = async ({ words, out }) => {
  const hasNoEnd = words[0] === '-n';
  await out(`${words.slice(Number(hasNoEnd)).join(' ')}${hasNoEnd ? '' : '\n'}`);
  return 0;
};

const unitS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const sleep = toybox('sleep', {
  usage: 'DURATION[smhd]…',
  min: 1,
  async run({ operands, device, signal, fail }) {
    let seconds = 0;
    for (const text of operands) {
      const found = /^(\d*\.?\d+)([smhd]?)$/.exec(text);
      if (!found) return fail(`bad number '${text}'`);
      seconds += Number(found[1]) * (unitS[found[2] || 's'] ?? 1);
    }
    if (seconds > MAX_SLEEP_S) return fail('this simulated tablet sleeps at most one day');
    try {
      await device.clock.sleep(seconds * 1000, signal);
    } catch {
      return 130;
    }
    return 0;
  },
});

/** A shell without root, as on a user build. */
const ID =
  'uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),3003(inet) context=u:r:shell:s0';

const printing = (name: string, text: (process: Process) => string): Program =>
  toybox(name, {
    usage: '',
    max: 0,
    run: async (process) => Number(!(await process.out(`${text(process)}\n`))),
  });

export const textPrograms: Readonly<Record<string, Program>> = {
  echo,
  sleep,
  true: () => 0,
  false: () => 1,
  id: printing('id', () => ID),
  whoami: printing('whoami', () => 'shell'),
  pwd: printing('pwd', ({ folder }) => folder),
  date: printing('date', ({ device }) => {
    const text = device.clock.wall().toUTCString();
    return text.replace(/^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/, '$1 $3 $2 $5 UTC $4');
  }),
};
