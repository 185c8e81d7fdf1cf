import { rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startSim } from '../../src/lib/sim/index.ts';
import { readSecret } from '../../src/lib/site/index.ts';
import { lockKiosk } from '../../src/lib/toolkit/kiosk/lock.ts';
import { setUpKiosk } from '../../src/lib/toolkit/kiosk/setup.ts';
import { setPose } from '../../src/lib/toolkit/motion/pose.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import {
  fileFault,
  inDays,
  listening,
  modeFault,
  openProxy,
  otherIdentity,
  type Row,
  simFault,
  siteFault,
} from './checklist-breaking.ts';
import { context, type ProcessWorld, type World } from './checklist-world.ts';
import { chassisState, until } from './robot.ts';

/** The faults that the steps of the built-in checklists must detect. */

// Faults without a gateway.

export const chassisRows: readonly Row[] = [
  {
    fault: 'a key of the site file is misspelt',
    isFresh: true,
    brings: fileFault('site-premises.yaml', (text) => text.replace('evidenceFile:', 'evidencFile:')),
    fails: [['premises/site-file', /valid: expected true, found false/, /evidencFile/]],
  },
  {
    fault: 'others may read the file of the device password',
    brings: modeFault('secrets/device-password', 0o644, 0o600),
    fails: [
      ['premises/site-file', /valid: expected true, found false/, /device-password/],
      ['premises/password', /findings\[id=operator-password\]\.verdict: expected 'ok', found 'wrong'/],
    ],
  },
  {
    fault: 'the cable of the chassis is cut',
    brings: simFault('cut'),
    fails: [
      ['premises/address', /state: expected 'connected', found 'not-connected'/, /127\.0\.0\.1/],
      ['site/map-backup', /CHASSIS_NOT_CONNECTED/, /not connected/, /127\.0\.0\.1:\d+/],
    ],
  },
  {
    fault: 'another robot answers at the address',
    brings: simFault('wrong-serial'),
    fails: [
      ['service/address', /serial\.verdict: expected 'ok', found 'wrong'/, /wrong-device/],
      ['premises/identity handover/identity demo/identity', /CHASSIS_WRONG_DEVICE/, /SIM-0001/],
    ],
  },
  {
    fault: 'a device between gateway and chassis corrupts the topics',
    brings: simFault('garbage-frames'),
    fails: [
      [
        'premises/identity handover/identity demo/identity',
        /findings\[id=messages\]\.verdict: expected 'ok', found 'wrong'/,
      ],
    ],
  },
  {
    fault: 'the chassis reports no software version',
    async brings(world) {
      const nameless = await startSim({ software: '' });
      // As the robots of all worlds: the probe waits its full time for an undecided unit.
      nameless.setFault('turned-by-hand', true);
      const undo = await siteFault((site) => {
        site.chassis.port = nameless.chassis.port;
      })(world);
      return async () => {
        await undo();
        await nameless[Symbol.asyncDispose]();
      };
    },
    fails: [['premises/software', /identity\.software\.value: expected a value that is not empty, found nothing/]],
  },
  {
    fault: 'the chassis reports its pose in radians',
    brings: simFault('radians'),
    fails: [
      [
        'premises/pose-unit',
        /findings\[id=pose-unit\]\.verdict: expected 'ok', found 'wrong': THE UNIT IS RADIANS/,
        /Do not drive|do not drive/,
      ],
      // Its probe lasts 8 s, in which two circles must be followed without a stall of this machine. Undecided is red too.
      [
        'demo/pose-unit',
        /findings\[id=pose-unit\]\.verdict: expected 'ok', found 'wrong': .*RADIANS/,
        /Do not drive|do not drive/,
      ],
    ],
  },
  {
    fault: 'the emergency stop is pressed, the position is lost, the battery is low, an error is active',
    brings: simFault('emergency-stop', 'localisation-lost', 'battery-low', 'alert-active'),
    fails: [
      [
        'premises/condition site/condition service/condition handover/condition demo/condition',
        /condition: expected every finding ok, found 4 of 6 wrong/,
        /Emergency stop \(PRESSED\); Positioning \(LOST\); Battery \(CRITICAL/,
      ],
    ],
  },
  {
    fault: 'the software of the chassis was updated, so that no record counts any more',
    brings: fileFault('evidence.jsonl', (text) => text.replaceAll('2.12.3-sim', '2.11.0-sim')),
    fails: [
      [
        'premises/evidence site/evidence service/evidence',
        /findings: expected every finding ok, found \d of \d+ wrong: .*vendor\.move\.request/,
      ],
    ],
  },
  {
    fault: 'other zones and stations were added to the map',
    async brings({ sim: { chassis } }) {
      const map = (id: number) => `http://${chassis.host}:${chassis.port}/maps/${id}`;
      const overlays = async (id: number) => ((await (await fetch(map(id))).json()) as { overlays: string }).overlays;
      const put = async (overlays: string) => {
        const { status } = await fetch(map(1), { method: 'PATCH', body: JSON.stringify({ overlays }) });
        expect(status).toBe(200);
      };
      const [good, odd] = [await overlays(1), await overlays(3)];
      await put(odd);
      return () => put(good);
    },
    fails: [['site/overlays demo/overlays', /summary\.findings\.wrong: expected 0, found [1-9]/]],
  },
  {
    fault: 'the overlays of the map were replaced, and the robot drives on by the old ones',
    async brings({ sim }) {
      const { host, port } = sim.chassis;
      const map = `http://${host}:${port}/maps/1`;
      const { overlays: good } = (await (await fetch(map)).json()) as { overlays: string };
      const fewer = JSON.parse(good) as { features: unknown[] };
      fewer.features.pop();
      const put = async (overlays: string) => {
        const { status } = await fetch(map, { method: 'PATCH', body: JSON.stringify({ overlays }) });
        expect(status).toBe(200);
      };
      sim.setFault('running-map-keeps-overlays', true);
      await put(JSON.stringify(fewer));
      return async () => {
        await put(good);
        sim.setFault('running-map-keeps-overlays', false);
      };
    },
    fails: [['site/overlays demo/overlays service/overlays', /running\.verdict: expected 'equal', found 'differs'/]],
  },
  {
    fault: 'the chassis does not return the pictures of its maps',
    brings: simFault('image-fails'),
    fails: [['premises/map-backup', /complete: expected true, found false|verdict: expected 'ok', found 'wrong'/]],
  },
];

/** They remain lost, so this is the last fault. */
export const mapLossRow: Row = {
  fault: 'the chassis lost its maps',
  async brings({ sim }) {
    const { host, port } = sim.chassis;
    sim.setFault('map-loss', true);
    const ask = async (path: string, method = 'GET') =>
      (await fetch(`http://${host}:${port}${path}`, { method })).status;
    await ask('/services/restart_service', 'POST');
    await until(
      () => ask('/device/info'),
      (status) => status === 503,
    );
    await until(
      () => ask('/device/info'),
      (status) => status === 200,
    );
    return () => sim.setFault('map-loss', false);
  },
  fails: [['premises/map-backup', /MAP_UNKNOWN/, /has no maps/]],
};

/** Each takes as long as a probe listens at most, because the unit of the pose stays open. */
export const slowRows: readonly Row[] = [
  {
    fault: 'the chassis has no position, so it publishes no pose',
    brings: simFault('stale'),
    fails: [
      [
        'premises/topics demo/topics',
        /\/tracked_pose\]\.rate\.value: expected at least 1, found nothing/,
        /findings\[id=topics\]\.verdict: expected 'ok', found 'wrong'/,
      ],
      ['demo/topics', /\/tracked_pose\]\.age\.value: expected .*2000, found nothing/],
    ],
  },
  {
    fault: 'the chassis sends its numbers as text',
    brings: simFault('numbers-as-text'),
    fails: [
      ['demo/identity', /findings\[id=messages\]\.verdict: expected 'ok', found 'wrong'/, /number sent as text in/],
    ],
  },
];

// Faults with a running gateway.

async function isGateOpen({ operatorPort }: World): Promise<boolean> {
  const reply = await fetch(`http://127.0.0.1:${operatorPort}/api/touren`);
  return ((await reply.json()) as { gate: { open: boolean } }).gate.open;
}

async function linkOf({ operatorPort }: World): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${operatorPort}/api/chassis/state`);
  return ((await reply.json()) as { link: { kind: string } }).link.kind;
}

export const gatewayRows: readonly Row[] = [
  {
    fault: 'a file is in place of the folder of the media library',
    async brings({ dir }) {
      await rename(join(dir, 'media'), join(dir, 'media-away')).catch(() => {});
      await writeFile(join(dir, 'media'), '');
      return async () => {
        await rm(join(dir, 'media'));
        await rename(join(dir, 'media-away'), join(dir, 'media')).catch(() => {});
      };
    },
    fails: [['premises/media', /findings: expected every finding ok, found 1 of \d+ wrong: .*maximum size/]],
  },
  {
    fault: 'the chassis reads the heading of a pose as degrees',
    async brings(world) {
      const undo = await simFault('pose-in-degrees')(world);
      return async () => {
        await undo();
        // The wrong pose closes the gate until a person sets it again.
        const { xM, yM, yawRad } = world.sim.state();
        const password = await readSecret(join(world.dir, 'secrets', 'device-password.txt'));
        const at = { xM, yM, yawDeg: (yawRad * 180) / Math.PI };
        await setPose(
          await openToolkit(world.sitePath, undefined, world.clock),
          { at, password, host: undefined },
          context,
        );
      };
    },
    fails: [['premises/pose-read-back', /findings: expected every finding ok, found \d of \d+ wrong: .*90°/]],
  },
  {
    fault: 'the chassis confirms a cancel and continues to drive',
    brings: simFault('cancel-ignored'),
    fails: [['site/stop', /findings: expected every finding ok, found \d of \d+ wrong: .*comes to rest/]],
  },
  {
    fault: 'a proxy in front of the operator server hides a page',
    async brings(world) {
      const proxy = await openProxy(world.operatorPort);
      const undo = await siteFault((site) => {
        site.operator.port = proxy.port;
      })(world);
      return async () => {
        await undo();
        proxy.server.close();
      };
    },
    fails: [
      [
        'premises/routes demo/routes',
        /counts\.wrong: expected 0, found [1-9]/,
        /routes: expected every item .*, found \/api\/nachbarn: full 'wrong'/,
      ],
    ],
  },
  {
    fault: 'another program opens the port of the read-only socket on all addresses',
    async brings() {
      const server = createServer((socket) => socket.destroy());
      await listening(server, { host: '::', port: 5174, ipv6Only: true });
      return () => new Promise((resolve) => server.close(resolve));
    },
    fails: [
      [
        'premises/read-only demo/read-only',
        /findings: expected every finding ok, found 1 of \d+ wrong: .*also listens on ::/,
      ],
    ],
  },
  {
    fault: 'the robot has lost its position',
    async brings(world) {
      const undo = await simFault('localisation-lost')(world);
      return async () => {
        await undo();
        // The next fault is one of a drive, which the gate refuses until it knows of the repair.
        await world.until(() => isGateOpen(world), Boolean);
      };
    },
    fails: [['site/tour demo/tour', /MOTION_REFUSED/, /lost its position/]],
  },
  {
    fault: 'the heading of the robot differs from the site file',
    brings: siteFault((site) => {
      site.stations.B.yawDeg -= 90;
    }),
    fails: [
      ['demo/tour', /findings: expected every finding ok, found 1 of 3 wrong: Final position .*another place for B/],
    ],
  },
  {
    fault: 'the cable of the chassis remains cut, and a robot of the site is switched off',
    brings: simFault('cut', 'fleet-silent'),
    options: () => ({ checks: { switchFault: async () => {} } }),
    fails: [
      ['premises/gateway-state', /link: expected 'connected', found 'not-connected'/],
      ['demo/recovered', /link: expected 'connected', found 'not-connected'/, /127\.0\.0\.1/],
      ['site/heartbeat', /counts\.wrong: expected 0, found 2/, /SIM-N002/, /not received/],
    ],
  },
  {
    // The next fault but one restarts the gateway, which ends the doubt.
    fault: 'the pose shows signs of radians while the gateway runs',
    async brings(world) {
      const undo = await simFault('radians-unwrapped')(world);
      await world.until(
        () => chassisState(world.operatorPort),
        ({ poseUnit }) => poseUnit.doubt !== null,
      );
      return undo;
    },
    fails: [
      ['premises/gateway-state handover/gateway-state demo/gateway-state', /unitInDoubt: expected false, found true/],
    ],
  },
  {
    fault: 'the pose is proven to be in radians while the gateway runs',
    async brings(world) {
      const undo = await simFault('radians')(world);
      await world.until(
        () => chassisState(world.operatorPort),
        (state) => state.unitContradicted,
      );
      return undo;
    },
    fails: [
      [
        'premises/gateway-state handover/gateway-state demo/gateway-state',
        /unitContradicted: expected false, found true/,
      ],
    ],
  },
  {
    fault: 'the handed-over device password differs from the configured one',
    brings: async () => () => {},
    options: () => ({ checks: { password: 'another password' } }),
    fails: [['premises/sign-in', /findings: expected every finding ok, found 1 of \d+ wrong: .*device password/]],
  },
  {
    fault: 'gw serve does not run',
    async brings(world) {
      await world.stopGateway();
      return () => world.startGateway();
    },
    fails: [
      [
        'premises/health handover/gateway-state demo/health',
        /OPERATOR_NOT_REACHABLE/,
        /operator server does not answer/,
        /127\.0\.0\.1:\d+/,
      ],
      ['demo/tour', /OPERATOR_NOT_REACHABLE/],
    ],
  },
];

/** Its subject is the process. */
export const processRows: readonly Row<ProcessWorld>[] = [
  {
    fault: 'the gateway hangs while the cable is cut',
    async brings(world) {
      // Before a release is confirmed, the process that was started is its watch; the next start has none.
      await world.stopGateway();
      // The step before has cut the cable.
      world.sim.setFault('cut', false);
      await world.sim.settled();
      await world.startGateway();
      await world.until(
        () => linkOf(world),
        (link) => link === 'connected',
      );
      return () => world.sim.setFault('cut', false);
    },
    options: ({ sim, gateway }) => ({
      checks: {
        async switchFault() {
          const { child } = gateway();
          child.kill('SIGSTOP');
          setTimeout(() => child.kill('SIGCONT'), 2_500);
          sim.setFault('cut', true);
          await sim.settled();
        },
      },
    }),
    fails: [['demo/cut', /afterMs: expected .*2000, found \d{4}/]],
  },
];

// Faults with an enrolled device and the cloud.

const enrolledSteps = 'premises/enrolled service/enrolled demo/enrolled';

export const cloudRows: readonly Row[] = [
  {
    fault: 'the device was never enrolled',
    async brings({ dir }) {
      await rename(join(dir, 'identity'), join(dir, 'away'));
      return () => rename(join(dir, 'away'), join(dir, 'identity'));
    },
    fails: [
      ['premises/enrolled', /state: expected 'enrolled', found 'not-enrolled'/],
      [enrolledSteps, /verdict: expected 'ok', found 'wrong'/, /not enrolled/],
      ['premises/region', /found nothing at findings\[id=region\]/],
    ],
  },
  {
    fault: 'others may read the folder of the identity',
    brings: modeFault('identity', 0o755, 0o700),
    fails: [['premises/enrolled', /findings\[id=folder\]\.verdict: expected 'ok', found 'wrong'/, /mode 755/]],
  },
  {
    fault: 'the identity of another robot was copied here',
    brings: otherIdentity('SIM-0002'),
    fails: [
      [
        'premises/enrolled service/enrolled',
        /findings\[id=serial\]\.verdict: expected 'ok', found 'wrong'/,
        /SIM-0002/,
      ],
    ],
  },
  {
    fault: 'the certificate expired yesterday',
    brings: otherIdentity('SIM-0001', { notBefore: inDays(-9), notAfter: inDays(-1) }),
    fails: [
      [
        'premises/enrolled service/enrolled',
        /findings\[id=validity\]\.verdict: expected 'ok', found 'wrong'/,
        /expired/,
      ],
      ['demo/enrolled', /verdict: expected 'ok', found 'wrong'/, /expired/],
    ],
  },
  {
    fault: 'the certificate ends before the next visit',
    brings: otherIdentity('SIM-0001', { notBefore: inDays(-9), notAfter: inDays(30.5) }),
    fails: [['service/enrolled', /identity\.daysLeft: expected .*at least 90.*, found 30/]],
  },
  {
    fault: 'the site file names another region and another broker',
    brings: siteFault((site) => {
      site.cloud.region = 'us-east-1';
      site.cloud.mqtt.host = '127.0.0.9';
    }),
    fails: [
      [
        'premises/region',
        /findings\[id=region\]\.verdict: expected 'ok', found 'wrong'/,
        /findings\[id=endpoint\]\.verdict: expected 'ok', found 'wrong'/,
        /us-east-1/,
      ],
    ],
  },
  {
    fault: 'the broker does not know this device',
    brings: simFault('cloud-not-allowed'),
    fails: [
      ['premises/certificate', /lines\[id=mqtt-fallback\.mqtt\]\.verdict: expected 'ok', found '(wrong|not-checked)'/],
    ],
  },
  {
    fault: 'the topic of stops was changed after the start of the gateway',
    brings: siteFault((site) => {
      site.cloud.topics = { stop: 'fleet/<serial>/halt' };
    }),
    fails: [
      [
        'premises/cloud-link',
        /findings: expected every finding ok, found 1 of 6 wrong: .*fleet\/SIM-0001\/halt is missing/,
      ],
    ],
  },
  {
    fault: 'the cloud account sends every stop under the id of the first',
    brings: async () => () => {},
    options: ({ sim }) => ({
      onProgress(text) {
        if (text.startsWith('Send a stop to ')) {
          void sim.cloud?.stop({ id: 'stop-1', reason: 'rehearsal', by: 'control centre' });
        }
      },
    }),
    fails: [
      ['premises/cloud-stop', /findings: expected every finding ok, found 1 of 4 wrong: .*content of an earlier stop/],
    ],
  },
  {
    fault: 'the package of the release was damaged in the object storage',
    brings: simFault('cloud-storage-corrupt'),
    fails: [['premises/release-rehearsal', /findings: expected every finding ok, found 1 of 4 wrong: .*rejected/]],
  },
  {
    fault: 'the cloud opens tunnels of another region',
    brings: simFault('cloud-tunnel-wrong-region'),
    fails: [['premises/support-session', /findings: expected every finding ok, found 1 of 9 wrong: .*other-region/]],
  },
  {
    fault: 'a proxy intercepts TLS on the path to the cloud',
    brings: simFault('cloud-inspected'),
    fails: [['site/cloud-reached', /lines: expected every finding .* ok, found \d+ of \d+ wrong: .*inspect/i]],
  },
];

// Faults with a tablet.

const tabletOptions = { searchPath: process.env.PATH, authorizeMs: 5_000, leaveOpen: false, watchMs: 500 };

export const tabletRows: readonly Row[] = [
  {
    fault: 'ADB over TCP of the tablet was switched on again',
    async brings({ sim }) {
      await sim.tablet?.openPort();
      return () => {};
    },
    fails: [
      [
        'premises/debug-bridge demo/tablet',
        /findings\[id=port\]\.verdict: expected 'ok', found 'wrong'/,
        /accepts connections/,
      ],
      ['premises/debug-bridge', /redLine: expected null, found/],
      ['demo/tablet', /port: expected 'closed', found 'open'/],
    ],
  },
  {
    fault: 'the tablet is in another WLAN than that of its profile',
    async brings(world) {
      const undo = await fileFault('kiosk.yaml', (text) => text.replace(/ssid: .*/, 'ssid: Lobby guests'))(world);
      const toolkit = await openToolkit(world.sitePath);
      const { verdict } = await setUpKiosk(toolkit, { ...tabletOptions, afterRestart: false }, context);
      expect(verdict).toBe('not-done');
      await world.shareState('tablet.json');
      return undo;
    },
    fails: [
      [
        'premises/tablet-set-up handover/tablet-no-difference service/tablet-no-difference demo/tablet',
        /setUp\.atLastConnection: expected 'as-profile', found 'differs'/,
      ],
    ],
  },
  {
    fault: 'the tablet switches ADB over TCP on at every start',
    async brings(world) {
      const undo = await simFault('tablet-reopens')(world);
      const toolkit = await openToolkit(world.sitePath);
      const { verdict } = await lockKiosk(toolkit, { ...tabletOptions, afterRestart: true }, context);
      expect(verdict).toBe('opens-again');
      await world.shareState('tablet.json');
      return undo;
    },
    fails: [['premises/debug-bridge-restart', /restart\.verdict: expected 'closed', found 'open'/]],
  },
];

/** Configures and locks the tablet, verified after a restart. */
export async function closeTablet(world: World): Promise<void> {
  const toolkit = await openToolkit(world.sitePath);
  const { verdict } = await setUpKiosk(toolkit, { ...tabletOptions, afterRestart: true }, context);
  expect(verdict).toBe('done');
  await world.shareState('tablet.json');
}

/**
 * Trials need the robot exclusively, so their faults are separate: test/e2e/trial.test.ts and
 * test/motion/trial/faults.test.ts.
 */
export const trialSteps = ['site/verify-stop', 'site/verify-move', 'site/verify-dock', 'site/verify-pose'];

/**
 * These need hardware addresses, a machine without other listeners, and a segment: a separate test in two namespaces.
 */
export const namespaceSteps = ['site/chassis-mac', 'site/listening', 'site/segments'] as const;

/** They need whole records of other lists: test/toolkit/checklist/record-check.test.ts. */
export const recordSteps = ['handover/premises-record', 'handover/site-record'] as const;

/** Their yes needs those records, or that a person did it: test/toolkit/gateway/acts-check.test.ts. */
export const knownQuestions = [
  'site/not-connected',
  'handover/everyday',
  'handover/stop',
  'handover/password',
  'handover/deviations-known',
] as const;

/** It requires the first of them. */
export const namespaceQuestion = 'site/chassis-reservation';

export const allRows = [
  ...chassisRows,
  mapLossRow,
  ...slowRows,
  ...gatewayRows,
  ...processRows,
  ...cloudRows,
  ...tabletRows,
];

export const pairsOf = (rows: readonly Pick<Row, 'fails'>[]) => [
  ...new Set(rows.flatMap(({ fails }) => fails.flatMap(([pairs]) => pairs.split(' ')))),
];
