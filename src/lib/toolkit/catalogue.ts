import { join } from 'node:path';
import { z } from 'zod';
import type { Catalogue, CatalogueEntry, Given, Missing, StepContext } from '../checklist/index.ts';
import { GwError } from '../error/index.ts';
import { trialKinds } from '../motion/index.ts';
import type { Ssh } from '../net/index.ts';
import type { Site } from '../site/index.ts';
import type { ChassisProbe } from './chassis/chassis.result.ts';
import { needsOfIdentity, needsOfLines } from './checklist/needs-by-result.ts';
import type { SecondHost } from './network/check/outside.ts';
import { type Need, needs } from './site/needs.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

export interface CatalogueOptions {
  /** Site file of the checks. Absent: the catalogue is listed, not run. */
  readonly sitePath?: string;
  /** The user's PATH, searched for programs such as adb. */
  readonly searchPath?: string | undefined;
  /** SSH connection to the host through which the robot is reached. */
  readonly ssh?: Ssh | undefined;
  /** Written into a backup; absent where the catalogue is only listed. */
  readonly gwVersion?: string;
  /** Hosts in the customer's network from which 'network check' probes the robot. */
  readonly fromHosts?: readonly SecondHost[];
  /** The device password, for checks that sign in. Never shown, never stored in a result. */
  readonly password?: string | undefined;
  /** Name of the technician, for evidence records that a step writes. */
  readonly who?: string | undefined;
  /** Switches a fault of the simulated robot; only in `gw demo`. */
  readonly switchFault?: (fault: { readonly name: string; readonly on: boolean }) => Promise<void>;
}

/** What a step expects of the result, as its checklist has it. */
type Expected = Parameters<NonNullable<CatalogueEntry['missing']>>[1];

const nothing = z.strictObject({});

/**
 * Every check that a checklist may name, on the functions of the commands of the same names. The site is opened when the
 * first check needs it, so that 'site check' reports an invalid site file.
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
    if (sitePath === undefined) throw new GwError('USAGE', 'No site file was given for this check.');
    return sitePath;
  }
  let opened: Promise<Toolkit> | undefined;
  async function toolkit(): Promise<Toolkit> {
    const { openToolkit } = await import('./toolkit.ts');
    opened ??= openToolkit(await path(), ssh);
    return opened;
  }
  /** For checks of the gateway itself or of its files: run elsewhere they would report on the wrong machine. */
  async function onGateway(): Promise<Toolkit> {
    if (ssh === undefined) return toolkit();
    throw new GwError('NEEDS_GATEWAY', `This check must run on the gateway itself, not through ${ssh.where}.`);
  }

  /** Only for a readable site file; 'site check' reports an unreadable one. */
  const lacking =
    <O>(look: (site: Site, options: O, expected: Expected) => readonly Missing[]) =>
    async (options: O, expected: Expected): Promise<readonly Missing[]> => {
      if (sitePath === undefined) return [];
      const site = await toolkit().then(
        (open) => open.site,
        () => null,
      );
      return site === null ? [] : look(site, options, expected);
    };
  const signedIn: readonly Given[] = password === undefined ? [] : ['password'];
  function thePassword(): string {
    if (password !== undefined) return password;
    throw new GwError('USAGE', 'This check signs in, but no device password was given.', {
      remedy: 'Name the password file with --password-file FILE.',
    });
  }
  const missing = (...of: readonly Need[]) => lacking((site) => of.flatMap((need) => need(site)));

  return {
    'site check': entry(
      {
        summary: 'The site file is valid, and the files and folders it names are usable on this machine.',
        with: nothing,
      },
      async () => (await import('./site/check.ts')).checkSite(await path()),
    ),
    'chassis address': entry(
      {
        summary: 'The chassis answers at its configured address and has the configured serial number.',
        with: z.strictObject({
          mac: z.boolean().default(false).describe('Compare the ARP/NDP table with chassis.mac of the site file.'),
        }),
        missing: lacking((site, { mac }) => (mac ? needs.chassisMac(site) : [])),
      },
      async (options, context) => (await import('./chassis/address.ts')).findChassis(await toolkit(), options, context),
    ),
    'chassis probe': entry(
      {
        summary:
          'Identity, software, latency, topics with rates, the verified angle unit of the pose, and the reported condition.',
        with: z.strictObject({
          seconds: z.number().min(1).max(60).default(8).describe('Maximum listening time in seconds.'),
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
        summary:
          'The cloud identity of this device is complete, valid, of this serial number, and readable for its owner only.',
        with: nothing,
        missing: lacking((site, _, expected) => needsOfIdentity(expected).flatMap((need) => need(site))),
      },
      async () => (await import('./enrol/status.ts')).readEnrolStatus(await onGateway()),
    ),
    'evidence check': entry(
      {
        summary: 'Every fact that the given orders rely on is measured, or was verified on this chassis.',
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
          'A supervised trial through the running gateway: cancel, move, dock or pose, compared with the facts that orders rely on, and recorded. Signs in with the device password, or as the user of the gateway.',
        moves: true,
        with: z.strictObject({
          kind: z.enum(trialKinds).describe('Kind of trial: stop first, then move, dock, pose.'),
          towardsDeg: z.number().min(-360).max(360).optional().describe('stop, move: course on the map in degrees.'),
          distanceM: z.number().min(0.3).max(1).optional().describe('move: distance in metres, default 0.8.'),
        }),
        missing: lacking((site, { kind }) => (kind === 'dock' ? needs.dock(site) : [])),
      },
      async (options, context) => {
        const { verifyEvidence } = await import('./evidence/verify.ts');
        // The technician confirms these by earlier steps of the list and by --robot-will-move.
        const conditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true };
        const onAlarm = (text: string) => context.onProgress(text);
        return verifyEvidence(await toolkit(), { ...options, who, conditions, password }, { ...context, onAlarm });
      },
    ),
    'gateway health': entry(
      { summary: 'All services of the gateway are running.', with: nothing },
      async (options, context) => {
        return (await import('./gateway/health.ts')).readGatewayHealth(await toolkit(), options, context);
      },
    ),
    'cloud link': entry(
      {
        summary:
          'The running gateway is connected to the cloud with all subscriptions, by the installed certificate, to the broker of the enrolment.',
        with: z.strictObject({
          withinMs: z.int().min(0).max(600_000).default(60_000).describe('Wait for a connection, in milliseconds.'),
        }),
        missing: missing(needs.cloud),
      },
      async (options, context) => (await import('./cloud/link.ts')).checkCloudLink(await onGateway(), options, context),
    ),
    'cloud stop': entry(
      {
        summary:
          'A stop that a person sends from the cloud account arrives during the check, is latched, and is cleared on site; needs the device password.',
        with: z.strictObject({
          withinMs: z.int().min(0).max(3_600_000).default(300_000).describe('Wait for the stop, in milliseconds.'),
        }),
        given: signedIn,
        missing: missing(needs.cloud, needs.passwordFile),
      },
      async ({ withinMs }, context) =>
        (await import('./cloud/stop-rehearsal.ts')).rehearseCloudStop(
          await toolkit(),
          { withinMs, password: thePassword() },
          context,
        ),
    ),
    'release rehearsal': entry(
      {
        summary:
          'A release that a person starts in the cloud account begins during the check, is installed, confirmed and reported; the gateway restarts.',
        with: z.strictObject({
          withinMs: z.int().min(0).max(3_600_000).default(900_000).describe('Wait for its end, in milliseconds.'),
        }),
        missing: missing(needs.cloud, needs.release),
      },
      async (options, context) =>
        (await import('./cloud/release-rehearsal.ts')).rehearseRelease(await toolkit(), options, context),
    ),
    'tunnel rehearsal': entry(
      {
        summary:
          'A tunnel that a person opens in the cloud console during the check starts a session, the page is opened through it, and it is ended on site and recorded; needs the device password.',
        with: z.strictObject({
          waitS: z
            .int()
            .min(0)
            .max(3_600)
            .default(300)
            .describe('Wait for the session, and again for a connection through it, in seconds.'),
        }),
        given: signedIn,
        missing: missing(needs.cloud, needs.tunnel, needs.passwordFile),
      },
      async ({ waitS }, context) =>
        (await import('./tunnel/rehearsal.ts')).rehearseTunnel(
          await onGateway(),
          { waitS, password: thePassword() },
          context,
        ),
    ),
    'heartbeat check': entry(
      {
        summary:
          'The heartbeat leaves this gateway every 2 s, every robot of the site file is received, no datagram is rejected.',
        with: z.strictObject({
          seconds: z.int().min(3).max(600).default(10).describe('Listening time in seconds.'),
        }),
        missing: missing(needs.fleet),
      },
      async (options, context) =>
        (await import('./heartbeat/check.ts')).checkHeartbeat(await onGateway(), options, context),
    ),
    'network check': entry(
      {
        summary:
          'The cloud endpoints are reachable from this gateway, no unexpected socket is open, network segments are separated.',
        with: z.strictObject({
          timeoutMs: z.int().min(1_000).max(60_000).default(10_000).describe('Timeout per endpoint in milliseconds.'),
        }),
        given: fromHosts.length > 0 ? ['second-host'] : [],
        missing: lacking((site, _, expected) => needsOfLines(expected).flatMap((need) => need(site))),
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
          'ADB port and settings of the tablet: read over an open port or USB, else the last known values with their age.',
        with: z.strictObject({
          usb: z.boolean().default(false).describe('Read the tablet over USB from this machine.'),
          allowWithinS: z
            .int()
            .min(5)
            .max(3600)
            .default(5)
            .describe('Time to allow this computer on the tablet, in seconds.'),
        }),
        missing: missing(needs.tablet),
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
        summary: 'The tablet matches its profile; needs an open ADB port.',
        with: z.strictObject({
          allowWithinS: z
            .int()
            .min(5)
            .max(3600)
            .default(30)
            .describe('Time to allow this computer on the tablet, in seconds.'),
        }),
        missing: missing(needs.tablet),
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
        summary: 'The whole route table on both sockets, and bypass attempts on the read-only socket.',
        with: nothing,
      },
      async (options, context) =>
        (await import('./operator/check.ts')).checkOperator(await toolkit(), options, context),
    ),
    'overlays inspect': entry(
      {
        summary: 'The overlays of a map: the meaning of every number with its evidence mark, and all errors.',
        with: z.strictObject({
          map: z.string().default('current').describe('Map id; default: the current map.'),
        }),
      },
      async ({ map }, context) => {
        const { inspectMapOverlays } = await import('./overlays/inspect.ts');
        const source = { kind: 'live', map } as const;
        const { clock } = await toolkit();
        return await inspectMapOverlays({ source, openToolkit: toolkit, now: () => clock.wall() }, context);
      },
    ),
    'map backup': entry(
      { summary: 'Backs up every map of the chassis to a new file under stateDir and verifies it.', with: nothing },
      async (_, context) => {
        if (gwVersion === undefined) throw new GwError('INTERNAL', 'Map backup without the version of gw.');
        const { backUpMapsToFile } = await import('./map/backup.ts');
        const open = await toolkit();
        const folder = join(open.site.stateDir, 'map-backups');
        return backUpMapsToFile(open, { ids: [], folder, force: false, gwVersion }, context);
      },
    ),
    'tour run': entry(
      {
        summary: 'Drives a tour of the site file through the running gateway and compares the final pose.',
        moves: true,
        with: z.strictObject({
          tour: z.string().describe('A tour of the site file.'),
          withinMs: z.int().min(1_000).max(3_600_000).default(300_000).describe('Timeout of the tour in milliseconds.'),
        }),
        missing: lacking((site, { tour }) => needs.tour(tour)(site)),
      },
      async (options, context) => {
        const opened = await toolkit();
        const needed = opened.site.operator.tourNeedsSignIn ? password : undefined;
        return (await import('./tour/run.ts')).runTour(opened, { ...options, password: needed }, context);
      },
    ),
    'operator sign-in': entry(
      {
        summary:
          'Signs in and out with the device password, and checks that a wrong one is refused; needs the device password.',
        with: nothing,
        given: signedIn,
        missing: missing(needs.passwordFile),
      },
      async (_options, context) =>
        (await import('./gateway/sign-in-check.ts')).checkSignIn(await toolkit(), { password: thePassword() }, context),
    ),
    'operator media': entry(
      {
        summary: 'Stores, reads back and deletes a media file of 200 MB; needs the device password.',
        with: nothing,
        given: signedIn,
        missing: missing(needs.passwordFile),
      },
      async (_options, context) =>
        (await import('./gateway/media-check.ts')).checkMedia(await toolkit(), { password: thePassword() }, context),
    ),
    'pose read-back': entry(
      {
        summary:
          'Sets another heading at the current position, reads it back in degrees and restores the old one; needs the device password.',
        moves: true,
        with: nothing,
        given: signedIn,
        missing: missing(needs.passwordFile),
      },
      async (_options, context) =>
        (await import('./gateway/pose-check.ts')).checkPose(await toolkit(), { password: thePassword() }, context),
    ),
    'measured stop': entry(
      {
        summary:
          'Stops the robot on a tour of the site file, measures time and distance to standstill, and clears the stop; needs the device password.',
        moves: true,
        with: z.strictObject({ tour: z.string().describe('A tour of the site file.') }),
        given: signedIn,
        missing: lacking((site, { tour }) => [...needs.tour(tour)(site), ...needs.passwordFile(site)]),
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
        summary: 'Chassis link of the running gateway: state, address tried, pose.',
        with: z.strictObject({
          link: z
            .enum(['connected', 'not-connected', 'booting'])
            .optional()
            .describe('Wait for this link state; default: the current state.'),
          withinMs: z.int().min(100).max(60_000).default(5_000).describe('Timeout of the wait in milliseconds.'),
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
        summary: 'Switches a fault of the simulated robot and waits until the gateway detects it. Only in `gw demo`.',
        with: z.strictObject({
          fault: z.string().describe('Name of the fault; see `gw sim fault --list`.'),
          on: z.boolean().describe('true switches the fault on.'),
          until: z.enum(['connected', 'not-connected', 'booting']).describe('Link state that the gateway must reach.'),
          withinMs: z.int().min(100).max(20_000).default(10_000).describe('Timeout of the wait in milliseconds.'),
        }),
      },
      async ({ fault, on, until, withinMs }, context) => {
        if (!switchFault) {
          throw new GwError('USAGE', 'No simulated robot here.', {
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

/** One entry with joined types: the function receives the output of its schema. */
function entry<S extends z.ZodType>(
  about: Pick<CatalogueEntry, 'summary' | 'software' | 'given'> & {
    readonly moves?: boolean;
    readonly with: S;
    readonly missing?: (options: z.output<S>, expected: Expected) => Promise<readonly Missing[]>;
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
    ...(missing && { missing: (options, expected) => missing(options as z.output<S>, expected) }),
    run: (options: unknown, context: StepContext) => run(options as z.output<S>, context),
  };
}
