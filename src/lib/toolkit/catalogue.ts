import { join } from 'node:path';
import { z } from 'zod';
import type { Catalogue, CatalogueEntry, Given, Missing, StepContext } from '../checklist/index.ts';
import { GwError } from '../error/index.ts';
import { trialKinds } from '../motion/index.ts';
import type { Ssh } from '../net/index.ts';
import type { Site } from '../site/index.ts';
import type { ChassisProbe } from './chassis/probe.result.ts';
import type { SecondHost } from './network/check/outside.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

export interface CatalogueOptions {
  /** The site file that the checks are about. Absent: the catalogue is only read, not run. */
  readonly sitePath?: string;
  /** The PATH of the person, in which programs such as adb are looked for. */
  readonly searchPath?: string | undefined;
  /** The machine through which the robot is reached. */
  readonly ssh?: Ssh | undefined;
  /** Stands in a backup; absent where the catalogue is only read. */
  readonly gwVersion?: string;
  /** Machines of the customer's network from which the robot is tried, for 'network check'. */
  readonly fromHosts?: readonly SecondHost[];
  /** The device password, for the checks that sign in. Never shown, and kept in no result. */
  readonly password?: string | undefined;
  /** Who takes the steps: stands in records that a step writes. */
  readonly who?: string | undefined;
  /** Switches a fault of the simulated robot; only the demo has one to switch. */
  readonly switchFault?: (fault: { readonly name: string; readonly on: boolean }) => Promise<void>;
}

const nothing = z.strictObject({});

/**
 * Every check that a checklist may name, by the functions that the commands of the same names use. The site is
 * opened when the first check needs it, so that a site file that is not sound is what 'site check' finds.
 */
export function createCatalogue({
  sitePath,
  searchPath,
  ssh,
  gwVersion,
  fromHosts = [],
  password,
  who = 'a technician, by a checklist',
  switchFault,
}: CatalogueOptions = {}): Catalogue {
  async function path(): Promise<string> {
    if (sitePath === undefined) throw new GwError('USAGE', 'No site file was named for this check.');
    return sitePath;
  }
  let opened: Promise<Toolkit> | undefined;
  async function toolkit(): Promise<Toolkit> {
    const { openToolkit } = await import('./toolkit.ts');
    opened ??= openToolkit(await path(), ssh);
    return opened;
  }
  /** For checks that look at the gateway itself: what they would find here would be said of the wrong machine. */
  async function onGateway(): Promise<Toolkit> {
    if (ssh === undefined) return toolkit();
    throw new GwError(
      'NEEDS_GATEWAY',
      `This looks at the gateway itself, and gw runs here and goes through ${ssh.where}.`,
    );
  }

  /** Of a site file that can be read; what is wrong with another is for 'site check' to find. */
  const lacking =
    <O>(look: (site: Site, options: O) => readonly Missing[]) =>
    async (options: O): Promise<readonly Missing[]> => {
      if (sitePath === undefined) return [];
      const site = await toolkit().then(
        (open) => open.site,
        () => null,
      );
      return site === null ? [] : look(site, options);
    };
  const signedIn: readonly Given[] = password === undefined ? [] : ['password'];
  function thePassword(): string {
    if (password !== undefined) return password;
    throw new GwError('USAGE', 'This check signs in, and the run was given no device password.', {
      remedy: 'Name a file that holds it with --password-file.',
    });
  }
  const section = (name: 'fleet' | 'tablet' | 'cloud' | 'enrolment', what: string) =>
    lacking((site) => (site[name] === undefined ? [{ key: name, what, remedy: `Add ${name} to the site file.` }] : []));
  const namedTour = lacking((site, { tour }: { readonly tour: string }) =>
    Object.hasOwn(site.tours, tour)
      ? []
      : [{ key: `tours.${tour}`, what: `there is no tour named '${tour}'`, remedy: `Name a tour '${tour}'.` }],
  );
  const passwordFile = lacking(({ operator }) =>
    operator.passwordFile === undefined
      ? [
          {
            key: 'operator.passwordFile',
            what: 'no device password is set, so nobody can sign in',
            remedy: 'Set one with `gw operator password`, and name its file there.',
          },
        ]
      : [],
  );

  return {
    'site check': entry(
      { summary: 'The site file, and the files and folders it names, are sound on this machine.', with: nothing },
      async () => (await import('./site/check.ts')).checkSite(await path()),
    ),
    'chassis address': entry(
      {
        summary: 'The chassis answers where the site file says, and it is the one that the site file names.',
        with: z.strictObject({
          mac: z.boolean().default(false).describe('Compare the neighbour table with chassis.mac of the site file.'),
        }),
        missing: lacking(({ chassis }, { mac }) =>
          mac && chassis.mac === undefined
            ? [
                {
                  key: 'chassis.mac',
                  what: 'the MAC address of the chassis is not named',
                  remedy: 'Enter chassis.mac as the label names it.',
                },
              ]
            : [],
        ),
      },
      async (options, context) => (await import('./chassis/address.ts')).findChassis(await toolkit(), options, context),
    ),
    'chassis probe': entry(
      {
        summary:
          'Identity, software, latency, topics with rates, the proven unit of the pose, and what the robot itself reports.',
        with: z.strictObject({
          seconds: z.number().min(1).max(60).default(8).describe('How long to listen at most.'),
        }),
        software: (data) => {
          const { software } = (data as ChassisProbe).identity;
          return (
            software && { value: software.value, mark: software.mark, basis: software.basis, source: software.source }
          );
        },
      },
      async (options, context) => (await import('./chassis/probe.ts')).probeChassis(await toolkit(), options, context),
    ),
    'enrol status': entry(
      {
        summary: 'This device has an identity in the cloud: whole, of this serial number, valid, for its owner only.',
        with: nothing,
        missing: section('enrolment', 'no enrolment endpoint is named, so this device has no identity'),
      },
      async () => (await import('./enrol/status.ts')).readEnrolStatus(await onGateway()),
    ),
    'evidence check': entry(
      {
        summary: 'Every fact that the named orders rely on is measured, or was verified on this very chassis.',
        with: z.strictObject({
          orders: z
            .array(z.enum(['move', 'dock', 'pose']))
            .min(1)
            .default(['move'])
            .describe('Kinds of orders: move, dock, pose.'),
        }),
      },
      async (options, context) =>
        (await import('./evidence/check.ts')).checkEvidence(await toolkit(), options, context),
    ),
    'evidence verify': entry(
      {
        summary:
          'A supervised trial through the running gateway: a cancel, a move, docking or a pose, compared with what orders rely on, and written down. Signs in with the device password, or as the user of the gateway.',
        moves: true,
        with: z.strictObject({
          kind: z.enum(trialKinds).describe('What is tried: stop before all others, then move, dock, pose.'),
          towardsDeg: z.number().min(-360).max(360).optional().describe('stop, move: course on the map in degrees.'),
          distanceM: z.number().min(0.3).max(1).optional().describe('move: way in metres, 0.8 without it.'),
        }),
        missing: lacking((site, { kind }) =>
          kind === 'dock' && site.dock === undefined
            ? [
                {
                  key: 'dock',
                  what: 'the pose of the dock is not named',
                  remedy: 'Measure it, and enter it as dock.',
                },
              ]
            : [],
        ),
      },
      async (options, context) => {
        const { verifyEvidence } = await import('./evidence/verify.ts');
        // What a person has to say stands as questions before the steps of the list, and as the flag of the run.
        const conditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true };
        const onAlarm = (text: string) => context.onProgress(text);
        return verifyEvidence(await toolkit(), { ...options, who, conditions, password }, { ...context, onAlarm });
      },
    ),
    'gateway health': entry(
      { summary: 'Every service of the running gateway runs.', with: nothing },
      async (options, context) => {
        return (await import('./gateway/health.ts')).readGatewayHealth(await toolkit(), options, context);
      },
    ),
    'heartbeat check': entry(
      {
        summary:
          'The heartbeat passes the kernel of this gateway every 2 s, every robot of the site file is received, no datagram is rejected.',
        with: z.strictObject({
          seconds: z.int().min(3).max(600).default(10).describe('How long to listen.'),
        }),
        missing: section('fleet', 'no heartbeat is configured'),
      },
      async (options, context) =>
        (await import('./heartbeat/check.ts')).checkHeartbeat(await onGateway(), options, context),
    ),
    'network check': entry(
      {
        summary:
          'From this gateway the cloud is reached as it must be, nothing listens here that may not, the segments hold.',
        with: z.strictObject({
          timeoutMs: z
            .int()
            .min(1_000)
            .max(60_000)
            .default(10_000)
            .describe('How long the way to one endpoint may take.'),
        }),
        given: fromHosts.length > 0 ? ['second-host'] : [],
        missing: section('cloud', 'no cloud endpoint is named'),
      },
      async ({ timeoutMs }, context) =>
        (await import('./network/check.ts')).checkNetwork(
          await onGateway(),
          { timeoutMs, from: fromHosts, fromSegment: 'site' },
          context,
        ),
    ),
    'kiosk status': entry(
      {
        summary:
          'The port of the tablet, and its settings: read again over an open port or a cable, else as remembered.',
        with: z.strictObject({
          usb: z.boolean().default(false).describe('The tablet is at a USB cable of this machine: read it there.'),
          allowWithinS: z
            .int()
            .min(5)
            .max(3600)
            .default(5)
            .describe('How long somebody may take to allow this computer on the tablet.'),
        }),
        missing: section('tablet', 'no tablet is named'),
      },
      async ({ usb, allowWithinS }, context) =>
        (await import('./kiosk/status.ts')).kioskStatus(
          await toolkit(),
          { usb, authorizeMs: allowWithinS * 1_000, searchPath },
          context,
        ),
    ),
    'kiosk plan': entry(
      {
        summary: 'The tablet is as its profile says; its debug bridge must be open for that.',
        with: z.strictObject({
          allowWithinS: z
            .int()
            .min(5)
            .max(3600)
            .default(30)
            .describe('How long somebody may take to allow this computer on the tablet.'),
        }),
        missing: section('tablet', 'no tablet is named'),
      },
      async ({ allowWithinS }, context) =>
        (await import('./kiosk/plan.ts')).planKiosk(
          await toolkit(),
          { authorizeMs: allowWithinS * 1_000, searchPath },
          context,
        ),
    ),
    'operator check': entry(
      {
        summary: 'The whole route table and the rules of the read-only socket, from outside, on both sockets.',
        with: nothing,
      },
      async (options, context) =>
        (await import('./operator/check.ts')).checkOperator(await toolkit(), options, context),
    ),
    'overlays inspect': entry(
      {
        summary: 'The drawings of a map: what every number means and how well that is known, and what is broken.',
        with: z.strictObject({
          map: z.string().default('current').describe('Number of the map; without it the one in use.'),
        }),
      },
      async ({ map }, context) => {
        const { inspectDrawings } = await import('./overlays/inspect.ts');
        const source = { kind: 'live', map } as const;
        const { clock } = await toolkit();
        return await inspectDrawings({ source, openToolkit: toolkit, now: () => clock.wall() }, context);
      },
    ),
    'map backup': entry(
      { summary: 'Every map of the chassis, taken into a new file under stateDir and proven there.', with: nothing },
      async (_, context) => {
        if (gwVersion === undefined) throw new GwError('INTERNAL', 'A catalogue that is only read took a backup.');
        const { backUpMapsToFile } = await import('./map/backup.ts');
        const open = await toolkit();
        const folder = join(open.site.stateDir, 'map-backups');
        return backUpMapsToFile(open, { ids: [], folder, force: false, gwVersion }, context);
      },
    ),
    'tour run': entry(
      {
        summary:
          'Drives a tour of the site file through the running gateway, and compares where the robot then stands.',
        moves: true,
        with: z.strictObject({
          tour: z.string().describe('A tour of the site file.'),
          withinMs: z.int().min(1_000).max(3_600_000).default(300_000).describe('How long the tour may take.'),
        }),
        missing: namedTour,
      },
      async (options, context) => {
        const opened = await toolkit();
        const needed = opened.site.operator.tourNeedsSignIn ? password : undefined;
        return (await import('./tour/run.ts')).runTour(opened, { ...options, password: needed }, context);
      },
    ),
    'operator sign-in': entry(
      {
        summary: 'The device password signs in and out, a wrong one is refused; needs the device password.',
        with: nothing,
        given: signedIn,
        missing: passwordFile,
      },
      async (_options, context) =>
        (await import('./gateway/sign-in-check.ts')).checkSignIn(await toolkit(), { password: thePassword() }, context),
    ),
    'operator media': entry(
      {
        summary: 'A media file of 200 MB is stored, read back and deleted; needs the device password.',
        with: nothing,
        given: signedIn,
        missing: passwordFile,
      },
      async (_options, context) =>
        (await import('./gateway/media-check.ts')).checkMedia(await toolkit(), { password: thePassword() }, context),
    ),
    'pose read-back': entry(
      {
        summary:
          'Another heading is set at the place of the robot, read back in degrees, and the old one set again; needs the device password.',
        moves: true,
        with: nothing,
        given: signedIn,
        missing: passwordFile,
      },
      async (_options, context) =>
        (await import('./gateway/pose-check.ts')).checkPose(await toolkit(), { password: thePassword() }, context),
    ),
    'measured stop': entry(
      {
        summary:
          'Stops the robot on a tour of the site file, measures how it comes to rest, and clears the stop; needs the device password.',
        moves: true,
        with: z.strictObject({ tour: z.string().describe('A tour of the site file.') }),
        given: signedIn,
        missing: async (options) => [...(await namedTour(options)), ...(await passwordFile({}))],
      },
      async ({ tour }, context) =>
        (await import('./gateway/stop-check.ts')).checkStop(
          await toolkit(),
          { tour, password: thePassword() },
          context,
        ),
    ),
    'gateway state': entry(
      {
        summary: 'How the running gateway stands to the chassis: its link, the address it tries, the pose.',
        with: z.strictObject({
          link: z
            .enum(['connected', 'not-connected', 'booting'])
            .optional()
            .describe('Wait until the link is this; without it the state of the moment is taken.'),
          withinMs: z.int().min(100).max(60_000).default(5_000).describe('How long to wait for that.'),
        }),
      },
      async ({ link, withinMs }, context) => {
        const { readGatewayState, waitForGatewayState } = await import('./gateway/state.ts');
        if (link === undefined) return readGatewayState(await toolkit(), context);
        return waitForGatewayState(await toolkit(), { link, withinMs }, context);
      },
    ),
    'sim fault': entry(
      {
        summary: 'Breaks the simulated robot on purpose, and waits until the gateway notices. Only `gw demo` has one.',
        with: z.strictObject({
          fault: z.string().describe('Name of the fault; see `gw sim fault --list`.'),
          on: z.boolean().describe('Whether it shall be on.'),
          until: z.enum(['connected', 'not-connected', 'booting']).describe('What the gateway must come to say.'),
          withinMs: z.int().min(100).max(20_000).default(10_000).describe('How long to wait for that.'),
        }),
      },
      async ({ fault, on, until, withinMs }, context) => {
        if (!switchFault) {
          throw new GwError('USAGE', 'There is no simulated robot here whose faults could be switched.', {
            remedy: 'This step runs in `gw demo` only.',
          });
        }
        const { waitForGatewayState } = await import('./gateway/state.ts');
        const open = await toolkit();
        const sinceMs = open.clock.monotonicMs();
        await switchFault({ name: fault, on });
        return waitForGatewayState(open, { link: until, withinMs, sinceMs }, context);
      },
    ),
  };
}

/** One entry, with its types joined: what the schema reads is what the function gets. */
function entry<S extends z.ZodType>(
  about: Pick<CatalogueEntry, 'summary' | 'software' | 'given'> & {
    readonly moves?: boolean;
    readonly with: S;
    readonly missing?: (options: z.output<S>) => Promise<readonly Missing[]>;
  },
  run: (options: z.output<S>, context: CheckContext) => Promise<object>,
): CatalogueEntry {
  const { summary, moves = false, with: schema, software, given, missing } = about;
  return {
    summary,
    moves,
    with: schema,
    ...(software && { software }),
    ...(given && { given }),
    ...(missing && { missing: (options: unknown) => missing(options as z.output<S>) }),
    run: (options: unknown, context: StepContext) => run(options as z.output<S>, context),
  };
}
