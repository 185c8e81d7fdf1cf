import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import {
  type AskedStep,
  type Checklist,
  listChecklists,
  loadChecklist,
  type Step,
  type StepResult,
} from '../../src/lib/checklist/index.ts';
import { loadIdentity } from '../../src/lib/enrolment/index.ts';
import { type Clock, systemClock } from '../../src/lib/lifecycle/index.ts';
import { askCloud } from '../../src/lib/sim/control/cloud-commands.ts';
import { simTunnelBrowse } from '../../src/lib/sim/control/tunnel-commands.ts';
import { type Sim, type SimOptions, startSim } from '../../src/lib/sim/index.ts';
import { readSecret } from '../../src/lib/site/index.ts';
import { createCatalogue } from '../../src/lib/toolkit/catalogue/catalogue.ts';
import { runChecklist } from '../../src/lib/toolkit/checklist/run.ts';
import type { ChecklistRunOptions } from '../../src/lib/toolkit/checklist/run-options.ts';
import type { Running } from './gw.ts';
import { startLaunched } from './launched.ts';
import { makeLightRelease } from './light-release.ts';
import { until } from './robot.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What is read of `/api/cloud`. */
interface CloudView {
  readonly link: {
    readonly status: string;
    readonly renewalFailure: object | null;
    readonly installed: { readonly fingerprintSha256: string } | null;
    readonly connection: { readonly certificate: { readonly fingerprintSha256: string } } | null;
  } | null;
}
const builtIn = fileURLToPath(new URL('../../checklists', import.meta.url));

/** The port of real robots, which these tests have exclusively. */
const OPERATOR_PORT = 5173;

/** The built-in lists, by name. */
async function loadBuiltIn(): Promise<ReadonlyMap<string, Checklist>> {
  // With the device password, as passed by `run`.
  const catalogue = createCatalogue({ password: 'given' });
  const names = await listChecklists(builtIn);
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, await loadChecklist(join(builtIn, `${name}.yaml`), catalogue)] as const),
    ),
  );
}

export const lists = await loadBuiltIn();

export function listOf(name: string): Checklist {
  const list = lists.get(name);
  if (!list) throw new Error(`there is no built-in checklist '${name}'`);
  return list;
}

/** A step by `list/step`. */
export function stepOf(pair: string): { readonly list: Checklist; readonly step: Step } {
  const [name = '', id = ''] = pair.split('/');
  const list = listOf(name);
  const step = list.steps.find((one) => one.id === id);
  if (!step) throw new Error(`the checklist '${name}' has no step '${id}'`);
  return { list, step };
}

/** The same for steps that are the same check with the same options and expectations; ids and patience do not count. */
export function sameness(step: Step): string {
  if (step.kind === 'unavailable') return `${step.kind} ${step.lacking}`;
  if (step.kind !== 'run') return `${step.kind} ${step.question}`;
  const expectations = step.expectations.map(({ path, matcher }) => `${path} ${matcher.expected}`).sort();
  const options = { ...(step.options as object | null), timeoutMs: undefined };
  return JSON.stringify([step.run, options, expectations]);
}

type Options = Partial<ChecklistRunOptions>;
/** A site file as YAML. */
// biome-ignore lint/suspicious/noExplicitAny: tests write into it what a person might
export type SiteText = Record<string, any>;

/** Where a world takes place: on the clock of this machine with a gateway process, or in a story. */
interface Stage extends AsyncDisposable {
  readonly sim: Sim;
  /** The chassis that the gateway has now, where it is not that of `sim`. */
  readonly robot?: () => Pick<Sim, 'chassis' | 'setFault' | 'settled'>;
  readonly dir: string;
  /** The site file written by `gw sim`, used by `gw serve`. */
  readonly sitePath: string;
  readonly operatorPort: number;
  readonly clock: Clock;
  /** Starts the gateway, or starts it again; it ends with the world. */
  startGateway(): Promise<void>;
  stopGateway(): Promise<unknown>;
  /** Time passes while this is under way. */
  during<T>(work: Promise<T>): Promise<T>;
  until<T>(read: () => T | Promise<T>, isExpected: (value: T) => boolean): Promise<T>;
}

/** A simulated robot in this process, with a site file and a state folder for each checklist. */
export interface World extends Stage {
  sitePathOf(list: string): string;
  /** Changes the site file of the simulator and those of all lists. */
  editSites(edit: (site: SiteText) => void): Promise<void>;
  /** Copies a file of the state folder of `gw serve` and `gw kiosk` to the state folders of all lists. */
  shareState(name: string): Promise<void>;
  /** Waits until the gateway is connected to the simulated cloud, where there are both. */
  linkReady(): Promise<void>;
  /** A package of the running version, signed for this robot; made once. */
  releasePackage(): Promise<string>;
  /** Runs a checklist, with a person at the cloud account who does as asked; returns its results by id. */
  run(list: string, options?: Options): Promise<ReadonlyMap<string, StepResult>>;
  /** Saves the current state of a list, or of all, for `goBack`. */
  remember(list?: string): Promise<void>;
  /** Discards later results, of a list or of all: `resume` continues from the saved state. */
  goBack(list?: string): Promise<void>;
}

/** Answers yes to every question, and 3 to every measured value. */
export const answerYes = async (step: AskedStep) => ({
  answer: 'yes' as const,
  by: null,
  initials: 'KM',
  remark: step.kind === 'confirm' && step.needsRemark ? 'nothing' : null,
  value: step.kind === 'measure' ? 3 : null,
  attachments: [],
});

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

export const context = { signal: new AbortController().signal, onProgress: () => {} };

type Edit = (site: SiteText) => void;

/** A world with the gateway as a process, started by its launcher. */
export async function openWorld(options: Omit<SimOptions, 'dir' | 'operatorPort'>, edit?: Edit) {
  const dir = await mkdtemp(join(tmpdir(), 'gw-faults-'));
  const sim = await startSim({ ...options, dir, operatorPort: OPERATOR_PORT });
  const sitePath = sim.sitePath ?? '';
  let running: Running | undefined;
  const gateway = () => {
    if (!running) throw new Error('no gateway was started');
    return running;
  };
  const stage: Stage = {
    ...{ sim, dir, sitePath, operatorPort: OPERATOR_PORT, clock: systemClock, until, during: (work) => work },
    async startGateway() {
      running = await startLaunched({ root, releasesDir: join(dir, 'releases'), sitePath });
    },
    stopGateway: () => gateway().end(),
    async [Symbol.asyncDispose]() {
      await running?.[Symbol.asyncDispose]();
      await sim[Symbol.asyncDispose]();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return { ...(await worldOn(stage, edit)), gateway };
}

export type ProcessWorld = Awaited<ReturnType<typeof openWorld>>;

export async function worldOn(stage: Stage, edit: Edit = () => {}): Promise<World> {
  const { sim, dir, sitePath } = stage;
  const sitePathOf = (list: string) => join(dir, `site-${list}.yaml`);
  const write = async (site: SiteText) => {
    await writeFile(sitePath, stringify(site));
    for (const list of lists.keys()) {
      await writeFile(sitePathOf(list), stringify({ ...site, stateDir: `state-${list}` }));
    }
  };
  const read = async () => parse(await readFile(sitePath, 'utf8')) as SiteText;
  const first = await read();
  const person = { name: 'A. Example', mail: 'a@example.com', phone: '+49 30 000000' };
  first.contacts = { customer: { ...person }, operator: { ...person } };
  edit(first);
  await write(first);
  const eachState = (work: (state: string, kept: string) => Promise<unknown>, only?: string) =>
    Promise.all(
      (only === undefined ? [...lists.keys()] : [only]).map((list) =>
        work(join(dir, `state-${list}`), join(dir, `kept-${list}`)),
      ),
    );
  await eachState(async (state) => {
    await mkdir(state);
    // All lists run on the gateway: its socket for local commands is theirs.
    await symlink(join(dir, 'state', 'local'), join(state, 'local'));
    // So are the records of its support sessions.
    await symlink(join(dir, 'state', 'support'), join(state, 'support'));
  });
  let packed: Promise<string> | undefined;
  const releasePackage = () => {
    packed ??= makeLightRelease(root, dir, version);
    return packed;
  };
  const robot = () => stage.robot?.() ?? sim;
  let tunnel: Promise<string> | undefined;
  let stops = 0;
  const atCloudAccount = (text: string) => {
    const { serial } = robot().chassis;
    if (text.startsWith('Open a tunnel for ')) {
      const opened = askCloud({ dir }, { action: 'tunnel-open', services: ['web'], lifetimeMs: 600_000, serial });
      tunnel = opened.then((one) => one.tunnel.tunnelId);
      // Its failure is that of the step, which then finds no session.
      tunnel.catch(() => {});
    }
    if (text.startsWith('Open the page of the robot ')) {
      const options = { lifetimeMs: 600_000, paths: ['/service'], timeoutMs: 20_000, signal: context.signal };
      void tunnel?.then((tunnelId) => simTunnelBrowse({ dir }, { ...options, tunnelId })).catch(() => {});
    }
    if (text.startsWith('Send a stop to ')) {
      stops += 1;
      void sim.cloud?.stop({ id: `stop-${stops}`, reason: 'rehearsal', by: 'control centre', serial });
    }
    if (text.startsWith('Release a version to ')) {
      void releasePackage().then((file) => sim.cloud?.release({ file, serial }));
    }
  };
  // As technicians working through several lists concurrently: the robot is turned by hand while its pose is
  // checked, since the unit of a heading shows only when it changes, and not touched while it drives or must be at
  // rest.
  const underWay = new Map<string, Step>();
  const runStep = (list: string, step?: Step) => {
    underWay.delete(list);
    if (step) underWay.set(list, step);
    const runs = [...underWay.values()].flatMap((one) => (one.kind === 'run' && one.reads === null ? [one] : []));
    const isLeftAlone = runs.some(({ run, moves }) => moves || /^(map|pose) /.test(run));
    robot().setFault('turned-by-hand', !isLeftAlone && runs.some(({ run }) => run === 'chassis probe'));
  };
  return {
    ...stage,
    sitePathOf,
    async editSites(change) {
      const site = await read();
      change(site);
      await write(site);
    },
    async shareState(name) {
      await eachState((state) => cp(join(dir, 'state', name), join(state, name)));
    },
    async linkReady() {
      if (sim.cloud === null) return;
      const { fingerprintSha256 } = (await loadIdentity(join(dir, 'identity')))?.certificate ?? {};
      const ask = async () => {
        const reply = await fetch(`http://127.0.0.1:${stage.operatorPort}/api/cloud`).catch(() => null);
        return (await reply?.json()) as CloudView | undefined;
      };
      // With the identity that is installed now, and with no look at another one: it may still be trying to use that one.
      await stage.until(
        ask,
        (view) =>
          view?.link?.status === 'connected' &&
          view.link.renewalFailure === null &&
          view.link.installed?.fingerprintSha256 === fingerprintSha256 &&
          view.link.connection?.certificate.fingerprintSha256 === fingerprintSha256,
      );
    },
    releasePackage,
    async run(list, more = {}) {
      const { steps } = await runChecklist({
        nameOrFile: list,
        dir: builtIn,
        sitePaths: [sitePathOf(list)],
        motionAllowed: true,
        gwVersion: '1.0.0',
        clock: stage.clock,
        ...context,
        onProgress: atCloudAccount,
        onStep: ({ step }) => runStep(list, step),
        ask: answerYes,
        checks: {
          password: await readSecret(join(dir, 'secrets', 'device-password.txt')).catch(() => undefined),
          async switchFault({ name, on }) {
            // A fault of a checklist is a name of the table.
            robot().setFault(name as Parameters<Sim['setFault']>[0], on);
            await robot().settled();
          },
        },
        ...more,
      });
      runStep(list);
      return new Map(steps.map((step) => [step.id, step]));
    },
    async remember(list) {
      await eachState(async (state, kept) => {
        await rm(kept, { recursive: true, force: true });
        await cp(state, kept, { recursive: true });
        // A second backup within the same second would have the file name of the first.
        await rm(join(kept, 'map-backups'), { recursive: true, force: true });
      }, list);
    },
    async goBack(list) {
      await eachState(async (state, kept) => {
        await rm(state, { recursive: true, force: true });
        await cp(kept, state, { recursive: true });
      }, list);
    },
  };
}

/** The full visible reason of the result of a step. */
export function reasonOf(result: StepResult | undefined): string {
  if (!result) return 'there is no such step';
  const { why, shown, error, remedy, measured, expectations } = result;
  const unmet = expectations
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ path, expected, found }) => `${path}: expected ${expected}, found ${found}`);
  return [why, ...unmet, shown, error?.code, error?.tried, remedy, JSON.stringify(measured)].filter(Boolean).join('\n');
}
