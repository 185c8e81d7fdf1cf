import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import {
  aborted,
  assertOwnFolder,
  type Clock,
  ensureFolder,
  firstOf,
  onAbort,
  readWhole,
  replaceFile,
} from '../../lifecycle/index.ts';
import { READ_ONLY_SOCKET } from '../../operator/index.ts';
import { readSecret } from '../../site/index.ts';
import { runChecklist } from '../checklist/run.ts';
import type { ChecklistRunOptions } from '../checklist/run-options.ts';
import { checkRecord } from '../checklist/verify.ts';
import { enrolDevice } from '../enrol/enrol.ts';
import type { Finding } from '../finding.result.ts';
import { tryPort } from '../free-port.ts';
import { setUpKiosk } from '../kiosk/setup.ts';
import { type CheckContext, openToolkit, type Toolkit } from '../toolkit.ts';
import { type ChildProgram, startProgram } from './child-program.ts';
import { rehearseCloud, type SimulatedCloud } from './cloud-rehearsal.ts';
import type { Demo } from './demo.result.ts';
import { makeDemoPackage } from './demo-package.ts';

export interface DemoOptions extends Pick<ChecklistRunOptions, 'onStep' | 'onResult' | 'onProgress' | 'signal'> {
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
  /** Called with the result of each part of the rehearsal of the cloud. */
  readonly onFinding?: (finding: Finding) => void;
  /** Aborted by a second Ctrl-C: the children are killed. */
  readonly killNow?: AbortSignal;
  /** If given, the processes are kept running after this call until `signal` is aborted. */
  readonly onKept?: (demo: Demo) => void;
}

/** Deadline of the whole demo, three times its usual time on two cores, including the end of the processes. */
const WHOLE_MS = 180_000;
const RUN_MS = 170_000;
const READY_MS = 8_000;
/** The port of real robots, used if free. @source specification, 'Operator server' */
const DEFAULT_OPERATOR_PORT = 5173;
const MARKER = '.gw-demo';
const RECORD = 'record.json';
/** Files of an earlier demo that would break this one: a latched stop, an identity of the previous CA. */
/** The last is written by a command that the demo prints, which replaces no file. */
const REMOVED_AT_START = ['state', 'identity', 'releases', RECORD, 'acceptance.pdf'];
const MARKER_TEXT = 'This folder was made by `gw demo`; a new run replaces its own files in it.\n';

/**
 * Commissions a simulated robot: starts `gw sim`, enrols the device, starts `gw serve`, sets the tablet up and locks it,
 * runs the checklist `demo` against them, rehearses the cloud link (outage, stop, release and its rollback), writes report and signed
 * record, and ends the processes it started. Throws
 * FILE_EXISTS, PORT_IN_USE, PART_ENDED, INTERRUPTED, and the errors of `enrolDevice`.
 */
export async function runDemo(options: DemoOptions): Promise<Demo> {
  const { clock, signal, onProgress } = options;
  const began = clock.monotonicMs();
  const dir = resolve(options.dir);
  await ownFolder(dir);
  const operatorPort = await choosePorts();

  const over = new AbortController();
  const children: ChildProgram[] = [];
  const whole = firstOf(signal, over.signal);
  const killChildren = () => {
    for (const child of children) child.kill();
  };
  using _killed = onAbort(options.killNow, killChildren);
  using timer = clock.after(RUN_MS, () => over.abort(tooLong(RUN_MS)));
  // For a process that does not end on SIGTERM.
  using lastResort = clock.after(WHOLE_MS, killChildren);

  const start = (name: string, argv: readonly [string, ...string[]], log: string) => {
    const child = startProgram({ name, argv, environment: options.environment, logPath: join(dir, log), clock });
    children.push(child);
    // The demo cannot continue without this process.
    void child.ended.then(() => {
      if (child.endedByItself && !child.has('restarting')) over.abort(child.endError());
    });
    return child;
  };
  const releasesDir = join(dir, 'releases');
  /** As the service of the operating system does: by the launcher, and again when gw ends for a release. */
  let gateway: ChildProgram | undefined;
  let starts = 0;
  const startGateway = (sitePath: string): ChildProgram => {
    starts += 1;
    const launcher = join(options.root, 'packaging', 'launch.sh');
    const log = starts === 1 ? 'serve.log' : `serve-${starts}.log`;
    const child = start('gw serve', ['sh', launcher, releasesDir, 'serve', '--site', sitePath, '--json'], log);
    void child.ended.then(() => {
      if (child.endedByItself && child.has('restarting') && !whole.aborted) startGateway(sitePath);
    });
    gateway = child;
    return child;
  };

  try {
    onProgress('Starting the simulated robot');
    const simBegan = clock.monotonicMs();
    const sim = start('gw sim', [...options.gw, ...simArguments(dir, operatorPort)], 'sim.log');
    const ready = readSimReady(await sim.waitFor('ready', { withinMs: READY_MS, signal: whole }));
    const simReady = clock.monotonicMs();
    const context: CheckContext = { signal: whole, onProgress };
    const toolkit = await openToolkit(ready.sitePath);
    const readCode = () => readSecret(ready.codePath, 'the one-time code of the simulator');
    await enrolDevice(toolkit, { renew: false, readCode }, context);

    const serveBegan = clock.monotonicMs();
    onProgress('Starting the gateway');
    const serve = startGateway(ready.sitePath);
    const tablet = tryTablet(toolkit, options.searchPath, context);
    await using _tablet = { [Symbol.asyncDispose]: () => tablet.catch(() => {}) };
    await serve.waitFor('ready', { withinMs: READY_MS, signal: whole });
    const serveReady = clock.monotonicMs();
    await tablet;

    onProgress('Running the checklist');
    const turnByHand = turningPerson((on) => options.switchFault(dir, { name: 'turned-by-hand', on }));
    const checklist = await runChecklist({
      nameOrFile: 'demo',
      dir: options.checklistsDir,
      sitePaths: [ready.sitePath],
      outDir: dir,
      recordPath: join(dir, RECORD),
      technician: { name: 'gw demo', initials: null },
      motionAllowed: true,
      gwVersion: options.gwVersion,
      clock,
      signal: whole,
      onProgress,
      checks: { switchFault: (fault) => options.switchFault(dir, fault) },
      onStep(event) {
        const { step } = event;
        turnByHand(step.kind === 'run' && step.reads === null && step.run === 'chassis probe');
        options.onStep?.(event);
      },
      ...(options.onResult && { onResult: options.onResult }),
    });
    whole.throwIfAborted();
    const cloud = await rehearseCloud(
      toolkit,
      {
        cloud: options.cloudOf(dir),
        password: await readSecret(ready.passwordPath, 'the device password of the simulator'),
        makePackage: (version) => makeDemoPackage({ root: options.root, dir, version, signal: whole }),
        gwVersion: options.gwVersion,
        async restartGateway() {
          await gateway?.stop();
          await startGateway(ready.sitePath).waitFor('ready', { withinMs: READY_MS, signal: whole });
        },
        onFinding: options.onFinding ?? (() => {}),
      },
      context,
    );
    const record = await checkRecord(join(dir, RECORD), { sitePath: ready.sitePath });
    const surface = `http://127.0.0.1:${operatorPort}/`;
    const demo: Demo = {
      dir,
      ok: checklist.ok && record.state === 'verified' && cloud.every(({ verdict }) => verdict === 'ok'),
      tookMs: Math.round(clock.monotonicMs() - began),
      robot: { serial: ready.chassis.serial, software: ready.chassis.software },
      addresses: {
        surface,
        service: `${surface}service`,
        readOnly: `http://${READ_ONLY_SOCKET.host}:${READ_ONLY_SOCKET.port}/`,
        chassis: `http://${ready.chassis.host}:${ready.chassis.port}`,
      },
      readyMs: { sim: Math.round(simReady - simBegan), serve: Math.round(serveReady - serveBegan) },
      kept: options.onKept !== undefined,
      checklist,
      cloud: [...cloud],
      record,
      logs: [join(dir, 'sim.log'), join(dir, 'serve.log')],
    };
    if (options.onKept) {
      timer[Symbol.dispose]();
      lastResort[Symbol.dispose]();
      options.onKept(demo);
      await aborted(whole);
      // Ctrl-C is the regular end; the end of a child is an error.
      if (!signal.aborted) throw whole.reason;
    }
    return demo;
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
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
  context.onProgress('Setting the tablet up');
  const options = { searchPath, authorizeMs: 5_000, leaveOpen: false, afterRestart: false, watchMs: 5_000 };
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

/** Accepts a folder that is new, empty or of an earlier demo. Throws FILE_EXISTS, FILE_UNWRITABLE. */
async function ownFolder(dir: string): Promise<void> {
  try {
    await ensureFolder(dir);
    // Files in the folder are removed, so it must belong to this user alone.
    await assertOwnFolder(dir);
    const marker = await readWhole(join(dir, MARKER), 64 * 1024).catch(() => undefined);
    if (marker === undefined && (await readdir(dir)).length > 0) {
      throw new GwError('FILE_EXISTS', `${dir} contains files that gw demo did not write.`, {
        remedy: 'Name another folder with --dir.',
      });
    }
    await replaceFile(join(dir, MARKER), MARKER_TEXT);
    for (const name of REMOVED_AT_START) await rm(join(dir, name), { recursive: true, force: true });
  } catch (cause) {
    if (cause instanceof GwError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNWRITABLE', `${dir} cannot be used as a folder (${code ?? 'unknown reason'}).`, { cause });
  }
}

/** The port of the operator surface. Throws PORT_IN_USE when the read-only port is not free. */
async function choosePorts(): Promise<number> {
  const { host, port } = READ_ONLY_SOCKET;
  if ((await tryPort(host, port)) === undefined) {
    throw new GwError('PORT_IN_USE', `${host}:${port} is in use by another program.`, {
      tried: { address: host, port, action: 'listen' },
      remedy: `The read-only socket is ${host}:${port} on every gateway, by a constant. Find the program with \`ss -ltnp\` (perhaps another gw serve or gw demo), end it, then start again.`,
    });
  }
  const port5173 = await tryPort(undefined, DEFAULT_OPERATOR_PORT);
  const free = port5173 ?? (await tryPort(undefined, 0));
  if (free === undefined) throw new GwError('PORT_IN_USE', 'No free port for the operator surface.');
  return free;
}

function tooLong(ms: number): GwError {
  return new GwError('CHECK_FAILED', `The demo exceeded its deadline of ${ms / 1000} s and was ended.`, {
    remedy: 'Run it again when the machine is less busy; the logs in its folder show what took the time.',
  });
}
