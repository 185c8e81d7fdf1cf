import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { StepResult } from '../../checklist/index.ts';
import { asGwError, GwError } from '../../error/index.ts';
import { aborted, type Clock, firstOf, onAbort } from '../../lifecycle/index.ts';
import { READ_ONLY_SOCKET } from '../../operator/index.ts';
import { readSecret } from '../../site/index.ts';
import { countText } from '../../text/index.ts';
import { runChecklist } from '../checklist/run.ts';
import type { ChecklistRunOptions } from '../checklist/run-options.ts';
import { checkRecord } from '../checklist/verify.ts';
import { enrolDevice } from '../enrol/enrol.ts';
import type { Finding } from '../finding.result.ts';
import { tryPort } from '../free-port.ts';
import { setUpKiosk } from '../kiosk/setup.ts';
import { type CheckContext, openToolkit, type Toolkit } from '../toolkit.ts';
import { type Activity, type ActivityOptions, createActivity } from './activity.ts';
import { notRehearsed, PARTS, rehearseCloud, type SimulatedCloud } from './cloud-rehearsal.ts';
import type { Demo } from './demo.result.ts';
import { makeDemoPackage } from './demo-package.ts';
import { claimFolder, type DemoFolder } from './folder.ts';
import { createPrograms, type Programs } from './programs.ts';
import { untilAnswered, waitedForProcessor, whyAgain } from './repeats.ts';

/** The place of a step or part among all of the demo. */
interface Count {
  readonly n: number;
  readonly of: number;
}

export interface DemoOptions extends Pick<ChecklistRunOptions, 'signal'>, Omit<ActivityOptions, 'clock'> {
  readonly dir: string;
  /** Program and first arguments of gw itself. */
  readonly gw: readonly [string, ...string[]];
  /** Folder of this installation of gw. */
  readonly root: string;
  /** All of the children's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Folder of the built-in checklists. */
  readonly checklistsDir: string;
  /** PATH in which adb is searched. */
  readonly searchPath: string | undefined;
  /** Recorded in the backup of the maps. */
  readonly gwVersion: string;
  readonly clock: Clock;
  /** Switches a fault of the simulated robot of this folder. */
  readonly switchFault: (dir: string, fault: { readonly name: string; readonly on: boolean }) => Promise<void>;
  /** The cloud's side of the simulated robot of this folder. */
  readonly cloudOf: (dir: string) => SimulatedCloud;
  /** Called with the result of each step of the checklist that was reached. */
  readonly onResult?: (step: StepResult, count: Count) => void;
  /** Called with the result of each part of the rehearsal of the cloud. */
  readonly onFinding?: (finding: Finding, count: Count) => void;
  /** Whether this port can be used: the platform fixes one of them. */
  readonly freePort?: typeof tryPort;
  /** Aborted by a second Ctrl-C: the children are killed. */
  readonly killNow?: AbortSignal;
  /** If given, what stands is kept running after this call until `signal` is aborted, or nothing stands any more. */
  readonly onKept?: (run: DemoRun) => void;
}

/** What was done, also by a demo that did not come to its end. */
export interface DemoRun {
  readonly demo: Demo;
  /** Why it did not come to its end: INTERRUPTED, PART_ENDED, and the errors of what it does. */
  readonly problem: GwError | null;
}

const PROBE = 'chassis probe';
/** The port of real robots, used if free. @source specification, 'Operator server' */
const DEFAULT_OPERATOR_PORT = 5173;

type Ready = ReturnType<typeof readSimReady>;

/** What was done so far. */
interface Done {
  sim: { readonly ready: Ready; readonly tookMs: number } | null;
  serveMs: number | null;
  checklist: Demo['checklist'];
  readonly cloud: Finding[];
  record: Demo['record'];
}

/**
 * Commissions a simulated robot: starts `gw sim`, enrols the device, starts `gw serve`, sets the tablet up and locks it,
 * runs the checklist `demo` against them, rehearses the cloud link (outage, stop, release and its rollback), writes report and signed
 * record, and ends the processes it started. It has no deadline: what takes long is named with what it waits for. Throws
 * FILE_EXISTS, FILE_UNWRITABLE and PORT_IN_USE before it starts anything.
 */
export async function runDemo(options: DemoOptions): Promise<DemoRun> {
  const { clock, signal } = options;
  const dir = resolve(options.dir);
  const folder = await claimFolder(dir);
  const operatorPort = await choosePorts(options.freePort ?? tryPort);
  await folder.begin();

  const began = clock.monotonicMs();
  const done: Done = { sim: null, serveMs: null, checklist: null, cloud: [], record: null };
  using activity = createActivity(options);
  const programs = createPrograms({ ...options, dir }, signal);
  using _killed = onAbort(options.killNow, programs.kill);
  const whole = firstOf(signal, programs.broken);
  let problem: GwError | null = null;
  try {
    await perform(done, { options: { ...options, dir, signal: whole }, folder, operatorPort, programs, activity });
  } catch (error) {
    problem = asGwError(whole.aborted ? whole.reason : error);
  }
  const tookMs = Math.round(clock.monotonicMs() - began);
  const lastRecord = done.record === null ? await folder.undo(join(dir, 'site.yaml')) : null;
  const runOf = (standing: readonly string[], why: GwError | null): DemoRun => ({
    demo: demoOf(done, {
      dir,
      operatorPort,
      tookMs,
      lastRecord,
      standing,
      problem: why,
      isInterrupted: signal.aborted,
    }),
    problem: why,
  });
  try {
    const standing = programs.standing();
    if (options.onKept === undefined || signal.aborted || standing.length === 0) return runOf([], problem);
    const kept = runOf(standing, problem);
    options.onKept(kept);
    activity.begin('Kept running until Ctrl-C');
    await Promise.race([aborted(signal), programs.allEnded()]);
    // Ctrl-C is the regular end; the end of a process is an error.
    return { ...kept, problem: problem ?? programs.endError() };
  } finally {
    for (const name of programs.standing()) await programs.stop(name, activity);
  }
}

interface Tools {
  readonly options: DemoOptions;
  readonly folder: DemoFolder;
  readonly operatorPort: number;
  readonly programs: Programs;
  readonly activity: Activity;
}

async function perform(done: Done, { options, folder, operatorPort, programs, activity }: Tools): Promise<void> {
  const { clock, dir, signal } = options;
  const context: CheckContext = { signal, onProgress: activity.detail };
  const simBegan = clock.monotonicMs();
  const ready = readSimReady(await programs.startSim(simArguments(dir, operatorPort), activity));
  done.sim = { ready, tookMs: Math.round(clock.monotonicMs() - simBegan) };
  const toolkit = await openToolkit(ready.sitePath);
  activity.begin('Enrolling the device');
  const readCode = () => readSecret(ready.codePath, 'the one-time code of the simulator');
  await untilAnswered(() => enrolDevice(toolkit, { renew: false, readCode }, context), {
    ...{ clock, signal },
    onAgain: ({ message }) => activity.detail(`tried again, ${message}`),
  });
  await folder.enrolled();

  const serveBegan = clock.monotonicMs();
  let tabletSays = '';
  const ofTablet = {
    signal,
    onProgress(text: string) {
      tabletSays = text;
    },
  };
  const serving = programs.startGateway(ready.sitePath, activity);
  const tablet = tryTablet(toolkit, options.searchPath, ofTablet);
  await using _tablet = { [Symbol.asyncDispose]: () => tablet.catch(() => {}) };
  await serving;
  done.serveMs = Math.round(clock.monotonicMs() - serveBegan);
  activity.begin('Setting the tablet up', () => tabletSays);
  await tablet;

  const checklist = await runSteps(ready, { options, folder, activity, programs });
  const isCut = checklist.interrupted || signal.aborted;
  done.checklist = isCut ? { ...checklist, record: null, written: [] } : checklist;
  signal.throwIfAborted();
  const count = (index: number): Count => countOf(checklist.steps.length + index, checklist.steps.length);
  await rehearseCloud(
    toolkit,
    {
      cloud: options.cloudOf(dir),
      password: await readSecret(ready.passwordPath, 'the device password of the simulator'),
      makePackage: (version) =>
        makeDemoPackage({ root: options.root, dir, version, signal, onProgress: activity.detail }),
      gwVersion: options.gwVersion,
      restartGateway: () => programs.restartGateway(ready.sitePath, activity),
      onPart: (what, index) => activity.begin(`${countText(count(index))} ${what}`),
      onFinding(finding) {
        options.onFinding?.(finding, count(done.cloud.length));
        done.cloud.push(finding);
      },
    },
    context,
  );
  activity.begin('Verifying the record');
  const verified = await checkRecord(folder.unfinishedRecord, { sitePath: ready.sitePath });
  signal.throwIfAborted();
  const { record, written } = await folder.finish(checklist.written);
  done.checklist = { ...checklist, written, record: checklist.record && { ...checklist.record, file: record } };
  done.record = { ...verified, path: record };
}

async function runSteps(
  { sitePath }: Ready,
  { options, folder, activity, programs }: Pick<Tools, 'options' | 'folder' | 'activity' | 'programs'>,
) {
  const { dir, clock, signal, gwVersion } = options;
  const waited = () => waitedForProcessor([process.pid, ...programs.pids()]);
  let waitedBefore = waited();
  activity.begin('Running the checklist');
  const turnByHand = turningPerson((on) => options.switchFault(dir, { name: 'turned-by-hand', on }));
  const counts = new Map<string, Count>();
  const repeats = new Map<string, number>();
  return await runChecklist({
    nameOrFile: 'demo',
    dir: options.checklistsDir,
    sitePaths: [sitePath],
    outDir: folder.unfinishedDir,
    recordPath: folder.unfinishedRecord,
    technician: { name: 'gw demo', initials: null },
    motionAllowed: true,
    gwVersion,
    clock,
    signal,
    onProgress: activity.detail,
    checks: { switchFault: (fault) => options.switchFault(dir, fault) },
    onStep({ step, index, of }) {
      const count = countOf(index, of);
      counts.set(step.id, count);
      if (!signal.aborted) activity.begin(`${countText(count)} ${step.title}`);
      turnByHand(step.kind === 'run' && step.reads === null && step.run === PROBE);
      waitedBefore = waited();
    },
    async decide(step) {
      const [before, now] = await Promise.all([waitedBefore, waited()]);
      const made = repeats.get(step.id) ?? 0;
      const why = whyAgain(step, before === null || now === null ? null : now - before, made);
      if (why === null) return { kind: 'leave' };
      repeats.set(step.id, made + 1);
      const count = counts.get(step.id);
      options.onWaiting(`${count ? countText(count) : ''} ${step.title}: measured again. ${why}`.trimStart());
      activity.begin(`${count ? countText(count) : ''} ${step.title}, again`.trimStart());
      turnByHand(step.run === PROBE);
      waitedBefore = waited();
      return { kind: 'again' };
    },
    onResult(step) {
      const count = counts.get(step.id);
      if (step.at !== null && count) options.onResult?.(step, count);
    },
  });
}

/** Of a step of the checklist, or of a part of the rehearsal behind its `steps`. */
const countOf = (index: number, steps: number): Count => ({ n: index + 1, of: steps + PARTS });

interface Circumstances extends Pick<Demo, 'dir' | 'tookMs' | 'lastRecord'> {
  readonly operatorPort: number;
  readonly standing: readonly string[];
  readonly problem: GwError | null;
  readonly isInterrupted: boolean;
}

function demoOf({ sim, serveMs, checklist, cloud, record }: Done, about: Circumstances): Demo {
  const { dir, operatorPort, tookMs, lastRecord, standing, problem, isInterrupted } = about;
  const surface = `http://127.0.0.1:${operatorPort}/`;
  const chassis = sim?.ready.chassis ?? null;
  const isWhole = problem === null && cloud.every(({ verdict }) => verdict === 'ok');
  return {
    dir,
    ok: isWhole && checklist?.ok === true && record?.state === 'verified',
    end: problem === null ? 'complete' : isInterrupted ? 'interrupted' : 'failed',
    tookMs,
    robot: chassis && { serial: chassis.serial, software: chassis.software },
    addresses: chassis && {
      surface,
      service: `${surface}service`,
      readOnly: `http://${READ_ONLY_SOCKET.host}:${READ_ONLY_SOCKET.port}/`,
      chassis: `http://${chassis.host}:${chassis.port}`,
    },
    readyMs: { sim: sim?.tookMs ?? null, serve: serveMs },
    kept: standing.length > 0,
    standing: [...standing],
    checklist,
    cloud: [...cloud, ...notRehearsed(cloud)],
    record,
    lastRecord,
    logs: [join(dir, 'sim.log'), join(dir, 'serve.log')],
  };
}

/**
 * On a real robot a person turns it by hand during the pose check, since the unit of a heading shows only when it
 * changes. If switching fails the robot stands still, and the step reports that the unit is not decided.
 */
function turningPerson(switchTurning: (on: boolean) => Promise<void>): (on: boolean) => void {
  let wanted = false;
  let last: Promise<void> = Promise.resolve();
  return (on) => {
    if (on === wanted) return;
    wanted = on;
    last = last.then(() => switchTurning(on)).catch(() => {});
  };
}

/** A failure (no adb, wrong tablet state) does not end the demo: a step of the checklist reports it. */
async function tryTablet(toolkit: Toolkit, searchPath: string | undefined, context: CheckContext): Promise<void> {
  const options = { searchPath, authorizeMs: 60_000, leaveOpen: false, afterRestart: false, watchMs: 5_000 };
  await setUpKiosk(toolkit, options, context).catch((error: unknown) => {
    if (context.signal.aborted || !(error instanceof GwError)) throw error;
  });
}

function simArguments(dir: string, operatorPort: number): string[] {
  const ports = ['--chassis-port', '0', '--operator-port', String(operatorPort)];
  return ['sim', '--dir', dir, ...ports, '--with', 'password,enrolment,cloud,tablet', '--json'];
}

const simReadySchema = z.looseObject({
  sitePath: z.string(),
  codePath: z.string(),
  passwordPath: z.string(),
  chassis: z.looseObject({ host: z.string(), port: z.int(), serial: z.string(), software: z.string() }),
});

function readSimReady(event: object) {
  const read = simReadySchema.safeParse(event);
  if (!read.success) throw new GwError('INTERNAL', 'Unexpected ready event of gw sim.');
  return read.data;
}

/** The port of the operator surface. Throws PORT_IN_USE when the read-only port is not free. */
async function choosePorts(freePort: typeof tryPort): Promise<number> {
  const { host, port } = READ_ONLY_SOCKET;
  if ((await freePort(host, port)) === undefined) {
    throw new GwError('PORT_IN_USE', `${host}:${port} is in use by another program.`, {
      tried: { address: host, port, action: 'listen' },
      remedy: `The read-only socket is ${host}:${port} on every gateway, by a constant. Find the program with \`ss -ltnp\` (perhaps another gw serve or gw demo), end it, then start again.`,
    });
  }
  const port5173 = await freePort(undefined, DEFAULT_OPERATOR_PORT);
  const free = port5173 ?? (await freePort(undefined, 0));
  if (free === undefined) throw new GwError('PORT_IN_USE', 'No free port for the operator surface.');
  return free;
}
