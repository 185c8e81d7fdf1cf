/**
 * The structure rules of the house (docs/architecture.md) as a checked configuration.
 * `rooms` is the table: which rooms a room may import. Every room may import the error, lifecycle and text rooms.
 */
const rooms = {
  error: [],
  lifecycle: [],
  text: [],
  angle: [],
  evidence: ['json'],
  document: [],
  json: [],
  markup: [],
  png: [],
  site: ['angle', 'document', 'evidence', 'json'],
  net: ['site'],
  chassis: ['angle', 'evidence', 'json', 'net', 'png'],
  motion: ['chassis', 'evidence', 'angle', 'json', 'site'],
  overlays: ['angle', 'evidence', 'json', 'markup', 'png'],
  maps: ['chassis', 'json', 'overlays', 'png'],
  fleet: ['angle', 'site'],
  enrolment: ['json', 'net', 'site'],
  kiosk: ['document', 'json', 'net'],
  operator: ['evidence', 'chassis', 'json', 'markup', 'motion', 'site'],
  checklist: ['document', 'evidence', 'json', 'png'],
  report: ['evidence', 'checklist', 'markup', 'site'],
  gateway: ['site', 'net', 'chassis', 'fleet', 'motion', 'operator', 'evidence'],
  toolkit: [
    'angle',
    'document',
    'evidence',
    'json',
    'png',
    'site',
    'net',
    'chassis',
    'fleet',
    'motion',
    'overlays',
    'maps',
    'enrolment',
    'kiosk',
    'operator',
    'checklist',
    'report',
  ],
  sim: [],
};

/** Doors other than index.ts, each with its reason. */
const sideDoors = {
  // Only the codec of the chassis converts angles.
  'angle/convert.ts': '^src/lib/chassis/codec\\.ts$',
  // Only the motion room moves the robot.
  'chassis/moves.ts': '^src/lib/motion/',
  // The shape of a record with the schema library, for shapes that are published; reading the ledger needs neither.
  'evidence/record.ts': '^src/lib/toolkit/evidence/(list|record)\\.result\\.ts$',
  // Loaded when a picture or a document is wanted.
  'overlays/render/index.ts': '^src/lib/toolkit/',
  // Loaded when something is reached through another machine: the library behind it is large.
  'net/ssh/index.ts': '^src/lib/toolkit/',
  // What looks at a network for a person; the daemon needs none of it, nor of the rooms that may ask.
  'net/probe/index.ts': '^src/lib/(toolkit|enrolment|kiosk)/',
  // Only the maps room writes what was never measured, and it takes a backup first.
  'chassis/map-writes.ts': '^src/lib/maps/',
  // The simulator shares wire shapes and nothing else.
  'chassis/wire.ts': '^src/lib/sim/',
};

const roomRules = Object.entries(rooms).map(([room, allowed]) => ({
  name: `room-${room}`,
  comment: `The room ${room} imports only: ${['error', 'lifecycle', 'text', ...allowed].join(', ')}.`,
  severity: 'error',
  from: { path: `^src/lib/${room}/` },
  to: {
    path: '^src/',
    pathNot: [
      `^src/lib/(${[room, ...(room === 'text' ? [] : ['error', 'text', ...(room === 'error' ? [] : ['lifecycle'])]), ...allowed].join('|')})/`,
      ...Object.entries(sideDoors)
        .filter(([, from]) => from === `^src/lib/${room}/`)
        .map(([door]) => `^src/lib/${door.replace('.', '\\.')}$`),
    ],
  },
}));

/** Client libraries and system modules that belong to one room each. */
const owned = [
  ['undici', '^src/lib/(chassis|operator|toolkit)/'],
  ['ws', '^src/lib/(chassis|sim)/'],
  ['fastify', '^src/lib/operator/'],
  ['@fastify/[^/]+', '^src/lib/operator/'],
  ['yaml', '^src/lib/(document|site|sim)/'],
  ['pngjs', '^src/lib/sim/'],
  ['flatbush', '^src/lib/overlays/'],
  ['modern-tar', '^src/lib/maps/'],
  ['ssh2', '^src/lib/net/'],
  ['@devicefarmer/[^/]+', '^src/lib/kiosk/'],
  ['(@peculiar/[^/]+|reflect-metadata)', '^src/lib/(enrolment|sim)/'],
  ['mqtt-packet', '^src/lib/net/'],
  ['aedes', '^src/lib/sim/'],
  ['pdfkit', '^src/lib/report/'],
  ['ipaddr\\.js', '^src/lib/net/'],
  ['pino(-pretty)?', '^src/(lib/gateway|commands|cli)/'],
];

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'No circles, through types neither.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-orphan-room',
      comment: 'Every room stands in the table.',
      severity: 'error',
      from: { path: `^src/lib/(?!(${Object.keys(rooms).join('|')})/)` },
      to: {},
    },
    {
      name: 'lib-knows-no-cli',
      comment: 'No room imports a command, src/cli or the command framework.',
      severity: 'error',
      from: { path: '^src/lib/' },
      to: { path: '^src/(commands|cli)/|(^|/)node_modules/(@oclif|ora|chalk)/' },
    },
    {
      name: 'front-door',
      comment: 'Between rooms only index.ts is imported, and the side doors from where they are meant for.',
      severity: 'error',
      from: { path: '^src/lib/([^/]+)/' },
      to: {
        path: '^src/lib/[^/]+/',
        pathNot: [
          '^src/lib/$1/',
          '^src/lib/[^/]+/index\\.ts$',
          ...Object.keys(sideDoors).map((door) => `^src/lib/${door.replace('.', '\\.')}$`),
        ],
      },
    },
    ...Object.entries(sideDoors).map(([door, from]) => ({
      name: `side-door-${door.replace(/[/.]/g, '-')}`,
      comment: `Only ${from} may import ${door} (beside its own room).`,
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: door === 'angle/convert.ts' ? [from] : [from, `^src/lib/${door.split('/')[0]}/`],
      },
      to: { path: `^src/lib/${door.replace('.', '\\.')}$` },
    })),
    ...roomRules,
    ...owned.map(([library, from]) => ({
      name: `owner-of-${library.replace(/[^a-z]+/g, '-')}`,
      comment: `${library} is used in ${from} only.`,
      severity: 'error',
      from: { path: '^src/', pathNot: [from] },
      to: { path: `(^|/)node_modules/${library}/` },
    })),
    {
      name: 'child-processes',
      comment: 'Only where a program is supervised, and for the relay to an output that would block the daemon.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/lib/toolkit/', '^src/lib/gateway/output-relay\\.ts$'] },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: 'udp-sockets',
      comment: 'Only the heartbeat speaks UDP, and its simulated neighbours.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/lib/fleet/', '^src/lib/sim/'] },
      to: { path: '^(node:)?dgram$' },
    },
    {
      name: 'not-to-dev',
      comment: 'What ships does not import development tools.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'not-to-unresolvable', severity: 'error', from: { path: '^src/' }, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
