import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import { trialKinds } from '../../motion/index.ts';
import type { ChassisProbe } from '../chassis/chassis.result.ts';
import { needsOfIdentity, needsOfLines } from '../checklist/needs-by-result.ts';
import { needs } from '../site/needs.ts';
import type { Check } from './check.ts';

const nothing = z.strictObject({});
const withinMs = (max: number, ms: number, what: string) => z.int().min(0).max(max).default(ms).describe(what);
const allowWithinS = (seconds: number) =>
  z.int().min(5).max(3600).default(seconds).describe('Time to allow this computer on the tablet, in seconds.');

/** One check whose functions receive the output of its schema. */
const check = <O>(of: Check<O>) => of;

/** The checks of gw, on the functions of the commands of the same names. */
export const checks = {
  'site check': check({
    summary: 'The site file is valid, and the files and folders it names are usable on this machine.',
    with: nothing,
    run: async (_, run) => (await import('../site/check.ts')).checkSite(run.path()),
  }),
  'chassis address': check({
    summary: 'The chassis answers at its configured address and has the configured serial number.',
    with: z.strictObject({
      mac: z.boolean().default(false).describe('Compare the ARP/NDP table with chassis.mac of the site file.'),
    }),
    needs: ({ mac }) => (mac ? [needs.chassisMac] : []),
    run: async (of, run) => (await import('../chassis/address.ts')).findChassis(await run.toolkit(), of, run),
  }),
  'chassis probe': check({
    summary:
      'Identity, software, latency, topics with rates, the verified angle unit of the pose, and the reported condition.',
    with: z.strictObject({
      seconds: z.number().min(1).max(60).default(8).describe('Maximum listening time in seconds.'),
    }),
    software(data) {
      const { software } = (data as ChassisProbe).identity;
      return software && { value: software.value, mark: software.mark, basis: software.basis, source: software.source };
    },
    simulated: (data) => (data as ChassisProbe).identity.simulated,
    run: async (of, run) => (await import('../chassis/probe.ts')).probeChassis(await run.toolkit(), of, run),
  }),
  'enrol status': check({
    summary:
      'The cloud identity of this device is complete, valid, of this serial number, and readable for its owner only.',
    with: nothing,
    needs: (_, expected) => needsOfIdentity(expected),
    run: async (_, run) => (await import('../enrol/status.ts')).readEnrolStatus(await run.onGateway()),
  }),
  'evidence check': check({
    summary: 'Every fact that the given orders rely on is measured, or was verified on this chassis.',
    with: z.strictObject({
      orders: z
        .array(z.enum(['move', 'dock', 'pose']))
        .min(1)
        .default(['move'])
        .describe('Kinds of orders: move, dock, pose.'),
    }),
    run: async (of, run) => (await import('../evidence/check.ts')).checkEvidence(await run.toolkit(), of, run),
  }),
  'evidence verify': check({
    summary:
      'A supervised trial through the running gateway: cancel, move, dock or pose, compared with the facts that orders rely on, and recorded. Signs in with the device password, or as the user of the gateway.',
    moves: true,
    with: z.strictObject({
      kind: z.enum(trialKinds).describe('Kind of trial: stop first, then move, dock, pose.'),
      towardsDeg: z.number().min(-360).max(360).optional().describe('stop, move: course on the map in degrees.'),
      distanceM: z.number().min(0.3).max(1).optional().describe('move: distance in metres, default 0.8.'),
    }),
    needs: ({ kind }) => (kind === 'dock' ? [needs.dock, needs.mapOfDock] : []),
    async run(of, run) {
      const { verifyEvidence } = await import('../evidence/verify.ts');
      // The technician confirms these by earlier steps of the list and by --robot-will-move.
      const conditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true };
      const onAlarm = (text: string) => run.onProgress(text);
      return verifyEvidence(
        await run.toolkit(),
        { ...of, who: run.who, conditions, password: run.givenPassword },
        { ...run, onAlarm },
      );
    },
  }),
  'gateway health': check({
    summary: 'All services of the gateway are running.',
    with: nothing,
    run: async (of, run) => (await import('../gateway/health.ts')).readGatewayHealth(await run.toolkit(), of, run),
  }),
  'cloud link': check({
    summary:
      'The running gateway is connected to the cloud with all subscriptions, by the installed certificate, to the broker of the enrolment.',
    with: z.strictObject({ withinMs: withinMs(600_000, 60_000, 'Wait for a connection, in milliseconds.') }),
    needs: [needs.cloud],
    run: async (of, run) => (await import('../cloud/link.ts')).checkCloudLink(await run.toolkit(), of, run),
  }),
  'cloud stop': check({
    summary:
      'A stop that a person sends from the cloud account arrives during the check, is latched, and is cleared on site; needs the device password.',
    with: z.strictObject({ withinMs: withinMs(3_600_000, 300_000, 'Wait for the stop, in milliseconds.') }),
    signsIn: true,
    needs: [needs.cloud],
    async run(of, run) {
      const { rehearseCloudStop } = await import('../cloud/stop-rehearsal.ts');
      return rehearseCloudStop(await run.toolkit(), { ...of, password: run.password() }, run);
    },
  }),
  'release rehearsal': check({
    summary:
      'A release that a person starts in the cloud account begins during the check, is installed, confirmed and reported; the gateway restarts.',
    with: z.strictObject({ withinMs: withinMs(3_600_000, 900_000, 'Wait for its end, in milliseconds.') }),
    needs: [needs.cloud, needs.release],
    run: async (of, run) =>
      (await import('../cloud/release-rehearsal.ts')).rehearseRelease(await run.toolkit(), of, run),
  }),
  'tunnel rehearsal': check({
    summary:
      'A tunnel that a person opens in the cloud console during the check starts a session, the page is opened through it, and it is ended on site and recorded; needs the device password.',
    with: z.strictObject({
      waitS: withinMs(3_600, 300, 'Wait for the session, and again for a connection through it, in seconds.'),
    }),
    signsIn: true,
    needs: [needs.cloud, needs.tunnel],
    async run(of, run) {
      const { rehearseTunnel } = await import('../tunnel/rehearsal.ts');
      return rehearseTunnel(await run.onGateway(), { ...of, password: run.password() }, run);
    },
  }),
  'heartbeat check': check({
    summary:
      'The heartbeat leaves this gateway every 2 s, every robot of the site file is received, no datagram is rejected.',
    with: z.strictObject({
      seconds: z.int().min(3).max(600).default(10).describe('Listening time in seconds.'),
    }),
    needs: [needs.fleet],
    run: async (of, run) => (await import('../heartbeat/check.ts')).checkHeartbeat(await run.onGateway(), of, run),
  }),
  'network check': check({
    summary:
      'The cloud endpoints are reachable from this gateway, no unexpected socket is open, network segments are separated.',
    with: z.strictObject({
      timeoutMs: z.int().min(1_000).max(60_000).default(10_000).describe('Timeout per endpoint in milliseconds.'),
    }),
    given: ({ fromHosts = [] }) => (fromHosts.length > 0 ? ['second-host'] : []),
    needs: (_, expected) => needsOfLines(expected),
    async run(of, run) {
      const { checkNetwork } = await import('../network/check.ts');
      return checkNetwork(await run.onGateway(), { ...of, from: run.fromHosts, fromSegment: 'site' }, run);
    },
  }),
  'kiosk status': check({
    summary:
      'ADB port and settings of the tablet: read over an open port or USB, else the last known values with their age.',
    with: z.strictObject({
      usb: z.boolean().default(false).describe('Read the tablet over USB from this machine.'),
      allowWithinS: allowWithinS(5),
    }),
    needs: [needs.tablet],
    async run({ usb, allowWithinS: seconds }, run) {
      const { kioskStatus } = await import('../kiosk/status.ts');
      return kioskStatus(await run.toolkit(), { usb, authorizeMs: seconds * 1_000, searchPath: run.searchPath }, run);
    },
  }),
  'kiosk plan': check({
    summary: 'The tablet matches its profile; needs an open ADB port.',
    with: z.strictObject({ allowWithinS: allowWithinS(30) }),
    needs: [needs.tablet],
    async run({ allowWithinS: seconds }, run) {
      const { planKiosk } = await import('../kiosk/plan.ts');
      return planKiosk(await run.toolkit(), { authorizeMs: seconds * 1_000, searchPath: run.searchPath }, run);
    },
  }),
  'operator check': check({
    summary: 'The whole route table on both sockets, and bypass attempts on the read-only socket.',
    with: nothing,
    run: async (of, run) => (await import('../operator/check.ts')).checkOperator(await run.toolkit(), of, run),
  }),
  'overlays inspect': check({
    summary: 'The overlays of a map: the meaning of every number with its evidence mark, and all errors.',
    with: z.strictObject({
      map: z.string().default('current').describe('Map id; default: the current map.'),
    }),
    async run({ map }, run) {
      const { inspectMapOverlays } = await import('../overlays/inspect.ts');
      const { clock } = await run.toolkit();
      const source = { kind: 'live', map } as const;
      return inspectMapOverlays({ source, openToolkit: run.toolkit, now: () => clock.wall() }, run);
    },
  }),
  'map backup': check({
    summary: 'Backs up every map of the chassis to a new file under stateDir and verifies it.',
    with: nothing,
    async run(_, run) {
      const { gwVersion } = run;
      if (gwVersion === undefined) throw new GwError('INTERNAL', 'Map backup without the version of gw.');
      const { backUpMapsToFile } = await import('../map/backup.ts');
      const toolkit = await run.toolkit();
      const folder = join(toolkit.site.stateDir, 'map-backups');
      return backUpMapsToFile(toolkit, { ids: [], folder, force: false, gwVersion }, run);
    },
  }),
  'tour run': check({
    summary: 'Drives a tour of the site file through the running gateway and compares the final pose.',
    moves: true,
    with: z.strictObject({
      tour: z.string().describe('A tour of the site file.'),
      withinMs: z.int().min(1_000).max(3_600_000).default(300_000).describe('Timeout of the tour in milliseconds.'),
    }),
    needs: ({ tour }) => [needs.tour(tour), needs.mapsOfTour(tour)],
    async run(of, run) {
      const { runTour } = await import('../tour/run.ts');
      const toolkit = await run.toolkit();
      const needed = toolkit.site.operator.tourNeedsSignIn ? run.givenPassword : undefined;
      return runTour(toolkit, { ...of, password: needed }, run);
    },
  }),
  'operator sign-in': check({
    summary:
      'Signs in and out with the device password, and checks that a wrong one is refused; needs the device password.',
    with: nothing,
    signsIn: true,
    async run(_, run) {
      const { checkSignIn } = await import('../gateway/sign-in-check.ts');
      return checkSignIn(await run.toolkit(), { password: run.password() }, run);
    },
  }),
  'operator media': check({
    summary: 'Stores, reads back and deletes a media file of 200 MB; needs the device password.',
    with: nothing,
    signsIn: true,
    async run(_, run) {
      const { checkMedia } = await import('../gateway/media-check.ts');
      return checkMedia(await run.toolkit(), { password: run.password() }, run);
    },
  }),
  'pose read-back': check({
    summary:
      'Sets another heading at the current position, reads it back in degrees and restores the old one; needs the device password.',
    moves: true,
    with: nothing,
    signsIn: true,
    async run(_, run) {
      const { checkPose } = await import('../gateway/pose-check.ts');
      return checkPose(await run.toolkit(), { password: run.password() }, run);
    },
  }),
  'measured stop': check({
    summary:
      'Stops the robot on a tour of the site file, measures time and distance to standstill, and clears the stop; needs the device password.',
    moves: true,
    with: z.strictObject({ tour: z.string().describe('A tour of the site file.') }),
    signsIn: true,
    needs: ({ tour }) => [needs.tour(tour), needs.mapsOfTour(tour)],
    async run(of, run) {
      const { checkStop } = await import('../gateway/stop-check.ts');
      return checkStop(await run.toolkit(), { ...of, password: run.password() }, run);
    },
  }),
  'gateway state': check({
    summary: 'Chassis link of the running gateway: state, address tried, pose.',
    with: z.strictObject({
      link: z
        .enum(['connected', 'not-connected', 'booting'])
        .optional()
        .describe('Wait for this link state; default: the current state.'),
      withinMs: z.int().min(100).max(60_000).default(5_000).describe('Timeout of the wait in milliseconds.'),
    }),
    async run({ link, ...of }, run) {
      const { readGatewayState, waitForGatewayState } = await import('../gateway/state.ts');
      if (link === undefined) return readGatewayState(await run.toolkit(), run);
      return waitForGatewayState(await run.toolkit(), { link, ...of }, run);
    },
  }),
  'sim fault': check({
    summary: 'Switches a fault of the simulated robot and waits until the gateway detects it. Only in `gw demo`.',
    with: z.strictObject({
      fault: z.string().describe('Name of the fault; see `gw sim fault --list`.'),
      on: z.boolean().describe('true switches the fault on.'),
      until: z.enum(['connected', 'not-connected', 'booting']).describe('Link state that the gateway must reach.'),
      withinMs: z.int().min(100).max(20_000).default(10_000).describe('Timeout of the wait in milliseconds.'),
    }),
    async run({ fault, on, until, ...of }, run) {
      const { switchFault } = run;
      if (!switchFault) {
        throw new GwError('USAGE', 'No simulated robot here.', { remedy: 'This step runs in `gw demo` only.' });
      }
      const { readGatewayState, waitForGatewayState } = await import('../gateway/state.ts');
      const toolkit = await run.toolkit();
      // A state that is there already would be found at once, whatever this switch does: it has to end before.
      if ((await readGatewayState(toolkit, run)).link === until) {
        await switchFault({ name: fault, on: !on });
        const link = until === 'connected' ? 'not-connected' : 'connected';
        const left = await waitForGatewayState(toolkit, { link, ...of }, run);
        if (left.link === until) {
          throw new GwError('CHECK_FAILED', `The gateway was '${until}' before the fault, and remains so.`);
        }
      }
      const sinceMs = toolkit.clock.monotonicMs();
      await switchFault({ name: fault, on });
      return waitForGatewayState(toolkit, { link: until, ...of, sinceMs }, run);
    },
  }),
};
