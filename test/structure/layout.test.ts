import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Commands whose work is in another module, shares a verb with another command, or does not concern the robot (help,
 * version).
 */
const elsewhere: Readonly<Record<string, string>> = {
  deliveries: 'toolkit/gateway/deliveries.ts',
  'checklist/list': 'toolkit/checklist/run.ts',
  'checklist/show': 'toolkit/checklist/run.ts',
  demo: 'toolkit/demo/demo.ts',
  doctor: 'toolkit/doctor/doctor.ts',
  'enrol/index': 'toolkit/enrol/enrol.ts',
  'evidence/show': 'toolkit/evidence/list.ts',
  health: 'toolkit/gateway/health.ts',
  completion: '../cli/completion/scripts.ts',
  status: 'toolkit/gateway/status.ts',
  help: '../cli/help.ts',
  'heartbeat/key/new': 'toolkit/heartbeat/key.ts',
  'log/index': 'toolkit/gateway/log.ts',
  'log/level': 'toolkit/gateway/log-level.ts',
  'motion/dock': 'toolkit/motion/go.ts',
  next: 'toolkit/next/next.ts',
  'release/key/new': 'toolkit/release/make.ts',
  serve: 'gateway/gateway.ts',
  'sim/cloud/cancel': 'sim/control/cloud-commands.ts',
  'sim/cloud/jobs': 'sim/control/cloud-commands.ts',
  'sim/cloud/received': 'sim/control/cloud-commands.ts',
  'sim/cloud/release': 'sim/control/cloud-commands.ts',
  'sim/cloud/restart': 'sim/control/cloud-commands.ts',
  'sim/cloud/send': 'sim/control/cloud-commands.ts',
  'sim/cloud/stop': 'sim/control/cloud-commands.ts',
  'sim/fault': 'sim/control/switch-fault.ts',
  'sim/index': 'sim/sim.ts',
  'sim/tunnel/browse': 'sim/control/tunnel-commands.ts',
  'sim/tunnel/close': 'sim/control/tunnel-commands.ts',
  'sim/tunnel/list': 'sim/control/tunnel-commands.ts',
  'sim/tunnel/open': 'sim/control/tunnel-commands.ts',
  'sim/tunnel/rotate': 'sim/control/tunnel-commands.ts',
  'tunnel/proxy': 'tunnel/proxy/run.ts',
  version: '../cli/platform.ts',
};

/** The rows of docs/architecture.md for the topics whose noun is not that of module, tests and page. */
const otherNouns = new Map(
  [
    ...readFileSync(`${root}docs/architecture.md`, 'utf8').matchAll(
      /^\| `(\w+)` \| `([\w/]+)` \| `([\w/]+)` \| \[[^\]]+\]\(([\w-]+\.md)/gm,
    ),
  ].map(([, topic = '', ...places]) => [topic, places] as const),
);

describe('a command topic', () => {
  const topics = readdirSync(`${root}src/commands`, { withFileTypes: true }).filter((entry) => entry.isDirectory());

  it.each(topics.map(({ name }) => name))('%s names its module, tests and page, or has a row', (topic) => {
    const own = [`src/lib/${topic}`, `test/${topic}`, `${topic}.md`];
    const [module = '', tests = '', page = ''] = otherNouns.get(topic) ?? own;
    const places = [module, tests, `docs/${page}`];
    expect(places.filter((path) => !existsSync(`${root}${path}`))).toEqual([]);
    if (otherNouns.has(topic)) expect([module, tests, page]).not.toEqual(own);
  });

  it('is that of every row', () => {
    expect(otherNouns.size).toBeGreaterThan(5);
    expect([...otherNouns.keys()].filter((topic) => !topics.some(({ name }) => name === topic))).toEqual([]);
  });
});

describe('the toolkit', () => {
  it.each(globSync('src/commands/**/*.ts', { cwd: root }).sort())(
    'has the work of %s at the path of its name',
    (path) => {
      const command = path.slice('src/commands/'.length, -'.ts'.length);
      const own = `toolkit/${command}.ts`;
      const place = elsewhere[command] ?? own;
      expect(existsSync(`${root}src/lib/${place}`), place).toBe(true);
      if (place !== own) expect(existsSync(`${root}src/lib/${own}`), own).toBe(false);
    },
  );

  it('has at most a dozen files beside its topics', () => {
    const files = readdirSync(`${root}src/lib/toolkit`, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBeLessThanOrEqual(12);
  });
});
