import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { faultOf } from '../cli/printed-commands.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');
const folder = 'packaging/ansible';
const paths = globSync(`${folder}/**/*.yml`, { cwd: root }).sort();
const all = paths.map(read).join('\n');

function parsed(path: string): unknown {
  const document = parseDocument(read(path), { strict: true, uniqueKeys: true });
  expect([path, ...document.errors, ...document.warnings]).toEqual([path]);
  return document.toJS();
}

type Task = Readonly<Record<string, unknown>>;
const isTask = (value: unknown): value is Task => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every task, handler and play of these files. */
const tasks = paths.flatMap((path) => {
  const content = parsed(path);
  const top = Array.isArray(content) ? content.filter(isTask) : [];
  return top.flatMap((task) => [task, ...[task.tasks, task.pre_tasks].flat().filter(isTask)]);
});
const withModule = (name: string) =>
  tasks.flatMap((task) => {
    const used = task[`ansible.builtin.${name}`];
    return isTask(used) ? [{ task, used }] : [];
  });

describe('the role for Ansible', () => {
  it('has files that parse', () => {
    expect(paths.length).toBeGreaterThan(8);
    expect(tasks.length).toBeGreaterThan(15);
    for (const { used } of withModule('import_tasks')) {
      expect(existsSync(`${root}${folder}/roles/gw/tasks/${used.file ?? ''}`)).toBe(true);
    }
  });

  it('runs commands of gw that exist, with their flags, as the user of its unit', async () => {
    const lines = withModule('command').flatMap(({ task, used }) => {
      const argv = typeof used.argv === 'string' ? used.argv.match(/(?<=')[\w-]+(?=')/g) : used.argv;
      const words = (argv as readonly string[]).map(String);
      if (!words.includes('gw') || words[0] !== 'runuser') return [];
      const line = words.slice(words.indexOf('--') + 1).join(' ');
      expect(words.slice(0, 4)).toEqual([
        'runuser',
        '-u',
        /^User=(.+)$/m.exec(read('packaging/gw.service'))?.[1],
        '--',
      ]);
      return [task.loop].flat().map((item) => line.replace('{{ item }}', String(item)));
    });
    expect(lines).toEqual([
      'gw health --json',
      'gw doctor --json',
      'gw site check --site site.next.yaml',
      'gw health',
      'gw status',
    ]);
    const quoted = [...all.matchAll(/sudo -u gw (gw [\w -]+)/g)].map(([, line = '']) => line);
    expect(quoted.length).toBeGreaterThan(0);
    for (const line of [...lines, ...quoted])
      expect([line, await faultOf({ line, part: false })]).toEqual([line, null]);
  });

  it('manages the unit of the package, and the folder and site file that it names', () => {
    const unit = read('packaging/gw.service');
    const services = withModule('systemd').map(({ used }) => used.name);
    expect(services).toEqual(['gw', 'gw']);
    expect(existsSync(`${root}packaging/${services[0]}.service`)).toBe(true);
    const state = `/var/lib/${/^StateDirectory=(.+)$/m.exec(unit)?.[1]}`;
    const site = /^Environment=GW_SITE=(.+)$/m.exec(unit)?.[1];
    const written = [...withModule('copy'), ...withModule('template')].map(({ used }) => used);
    expect(written.map(({ dest }) => dest)).toContain(site);
    const own = written.filter(({ dest }) => String(dest).startsWith(state));
    expect(own).toHaveLength(3);
    for (const used of own) expect(used).toMatchObject({ owner: 'gw', group: 'gw', mode: '0600' });
    const launched = /launch\.sh (\S+) serve/.exec(unit)?.[1];
    expect(withModule('stat').map(({ used }) => used.path)).toEqual([`${launched}/current`]);
  });

  it('restarts gw by a handler that exists', () => {
    const notified = new Set(tasks.flatMap((task) => task.notify ?? []));
    expect([...notified]).toEqual(['Restart gw']);
    expect(read(`${folder}/roles/gw/handlers/main.yml`)).toContain('- name: Restart gw\n');
  });

  it('puts key and source where the repository says that they are', () => {
    const script = read('scripts/package/apt-repository.js');
    const keyring = /^const KEYRING = '(.+)';$/m.exec(script)?.[1];
    const copied = withModule('copy').flatMap(({ task }) => (Array.isArray(task.loop) ? task.loop : []));
    expect(copied).toEqual([keyring, '/etc/apt/sources.list.d/gw.sources']);
    for (const path of copied) expect(script).toContain(`join(out, '${String(path).split('/').at(-1)}')`);
  });

  it('knows every variable that it uses, and its page describes those that are given', () => {
    const specification = parsed(`${folder}/roles/gw/meta/argument_specs.yml`) as {
      argument_specs: { main: { options: Record<string, { required?: boolean }> } };
    };
    const { options } = specification.argument_specs.main;
    const given = Object.keys(options).sort();
    const defaults = Object.keys(parsed(`${folder}/roles/gw/defaults/main.yml`) as object).sort();
    expect(given.filter((name) => options[name]?.required !== true)).toEqual(defaults);
    const made = tasks.flatMap((task) => {
      const facts = task['ansible.builtin.set_fact'];
      return [task.register, ...Object.keys(task.vars ?? {}), ...(isTask(facts) ? Object.keys(facts) : [])];
    });
    const used = new Set(all.match(/\bgw_[a-z_]+\b(?=[^:])/g));
    expect(used.size).toBeGreaterThan(8);
    expect([...used].filter((name) => !given.includes(name) && !made.includes(name))).toEqual([]);
    const rows = [...read('docs/fleet.md').matchAll(/^\| `(gw_\w+)` \|/gm)].map(([, name]) => name);
    expect(rows.sort()).toEqual(given);
  });

  it('has the plays that its page names', () => {
    const named = new Set([...read('docs/fleet.md').matchAll(/ansible-playbook (\S+\.yml)/g)].map(([, name]) => name));
    expect([...named].sort()).toEqual(['install.yml', 'rollback.yml', 'status.yml']);
    for (const name of named) expect(paths).toContain(`${folder}/${name}`);
  });
});
