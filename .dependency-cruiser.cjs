/**
 * The structure rules of docs/architecture.md as a checked configuration.
 * `modules` lists which modules a module may import. Every module may import error, lifecycle and text.
 */
const modules = {
  error: [],
  lifecycle: [],
  text: [],
  angle: [],
  evidence: ['json'],
  document: [],
  json: [],
  markup: [],
  x509: [],
  png: [],
  archive: ['json'],
  site: ['angle', 'document', 'evidence', 'json'],
  net: ['site', 'x509'],
  chassis: ['angle', 'evidence', 'json', 'net', 'png'],
  motion: ['chassis', 'evidence', 'angle', 'json', 'site'],
  delivery: ['chassis', 'json', 'motion', 'pages', 'site'],
  overlays: ['angle', 'evidence', 'json', 'markup', 'png'],
  maps: ['archive', 'chassis', 'json', 'overlays', 'png'],
  fleet: ['angle', 'json', 'site'],
  enrolment: ['json', 'net', 'site', 'x509'],
  cloud: ['json', 'net', 'site', 'x509'],
  tunnel: ['json', 'net', 'site', 'cloud'],
  kiosk: ['document', 'json', 'net'],
  pages: ['evidence'],
  incident: ['json', 'pages'],
  operator: ['evidence', 'chassis', 'cloud', 'delivery', 'incident', 'json', 'motion', 'pages', 'site', 'tunnel'],
  checklist: ['document', 'evidence', 'json', 'png', 'x509'],
  report: ['evidence', 'checklist', 'markup', 'site', 'tunnel'],
  gateway: [
    'site',
    'net',
    'chassis',
    'cloud',
    'delivery',
    'enrolment',
    'fleet',
    'motion',
    'operator',
    'evidence',
    'tunnel',
  ],
  toolkit: [
    'angle',
    'archive',
    'document',
    'evidence',
    'json',
    'png',
    'x509',
    'site',
    'net',
    'chassis',
    'delivery',
    'fleet',
    'motion',
    'overlays',
    'maps',
    'enrolment',
    'cloud',
    'tunnel',
    'kiosk',
    'operator',
    'incident',
    'pages',
    'checklist',
    'report',
  ],
  sim: [],
};

/** Entry points other than index.ts, each with its reason. */
const extraEntries = {
  // Only the codec of the chassis converts angles.
  'angle/convert.ts': '^src/lib/chassis/codec\\.ts$',
  // Only the motion module moves the robot.
  'chassis/moves.ts': '^src/lib/motion/',
  // The schema of a record, for published schemas; reading the ledger does not need the schema library.
  'evidence/record.ts': '^src/lib/toolkit/evidence/evidence\\.result\\.ts$',
  // The schema of an adoption, for published schemas, for the same reason.
  'evidence/adoption.ts': '^src/lib/(?:operator/answers|toolkit/evidence)/',
  // The names of the marks: the schema of the pages is typed in the browser too, which has no files.
  'evidence/fact.ts': '^src/lib/pages/',
  // The schemas of the parts of results; reading overlays does not need the schema library.
  'overlays/schemas.ts': '^src/lib/toolkit/.*\\.result\\.ts$',
  // The same of what is shown of a certificate.
  'x509/schema.ts': '^src/lib/toolkit/.*\\.result\\.ts$',
  // Loaded only for pictures and documents.
  'overlays/render/index.ts': '^src/lib/toolkit/',
  // Loaded only for SSH connections, since the library is large.
  'net/ssh/index.ts': '^src/lib/toolkit/',
  // Loaded with the first request: many commands send none.
  'net/http/index.ts': '^src/lib/(chassis|cloud|operator|toolkit)/',
  // Network probes; the daemon loads those that opening a path needs, and where its port is in use, who holds it.
  'net/probe/index.ts': '^src/lib/(toolkit|enrolment|kiosk)/|^src/lib/gateway/running-gateway\\.ts$',
  'net/path/index.ts': '^src/lib/(toolkit|cloud|tunnel)/|^src/lib/gateway/(clock-(reader|watch)|renewal-parts)\\.ts$',
  // Only the maps module uses writes that were never measured, and it makes a backup first.
  'chassis/map-writes.ts': '^src/lib/maps/',
  // The daemon makes no audit.
  'tunnel/audit/index.ts': '^src/lib/toolkit/|^src/lib/report/(audit|texts)/',
  // The daemon loads neither the protocol nor the audit.
  'tunnel/session/index.ts': '^src/lib/gateway/',
  // The proxy of a support session writes its lines as the daemon does, and loads nothing else of it.
  'gateway/event-output.ts': '^src/commands/tunnel/proxy\\.ts$',
  // The simulator shares the wire types only.
  'chassis/wire.ts': '^src/lib/sim/',
  'cloud/wire.ts': '^src/lib/sim/',
  'tunnel/wire.ts': '^src/lib/sim/',
};

const moduleRules = Object.entries(modules).map(([name, allowed]) => ({
  name: `module-${name}`,
  comment: `The module ${name} imports only: ${['error', 'lifecycle', 'text', ...allowed].join(', ')}.`,
  severity: 'error',
  from: { path: `^src/lib/${name}/` },
  to: {
    path: '^src/',
    pathNot: [
      `^src/lib/(${[name, ...(name === 'text' ? [] : ['error', 'text', ...(name === 'error' ? [] : ['lifecycle'])]), ...allowed].join('|')})/`,
      ...Object.entries(extraEntries)
        .filter(([, from]) => new RegExp(from).test(`src/lib/${name}/`))
        .map(([entry]) => `^src/lib/${entry.replace('.', '\\.')}$`),
    ],
  },
}));

/** Client libraries and system modules, each with the modules that may import it. */
const owned = [
  ['undici', '^src/lib/net/http/'],
  ['ws', '^src/lib/(chassis|sim|tunnel)/'],
  ['@bufbuild/protobuf', '^src/lib/tunnel/wire/'],
  ['fastify', '^src/lib/operator/'],
  ['@fastify/[^/]+', '^src/lib/operator/'],
  ['yaml', '^src/lib/(document|site|sim)/'],
  ['pngjs', '^src/lib/sim/'],
  ['flatbush', '^src/lib/overlays/'],
  ['modern-tar', '^src/lib/(archive|cloud|maps|toolkit/support)/'],
  ['age-encryption', '^src/lib/toolkit/backup/'],
  ['ssh2', '^src/lib/net/'],
  ['@devicefarmer/[^/]+', '^src/lib/kiosk/'],
  ['(@peculiar/[^/]+|reflect-metadata)', '^src/lib/(enrolment|sim)/'],
  ['mqtt', '^src/lib/cloud/link/'],
  ['mqtt-packet', '^src/lib/(net|sim)/'],
  ['aedes', '^src/lib/sim/'],
  ['pdfkit', '^src/lib/report/'],
  ['ipaddr\\.js', '^src/lib/net/'],
  ['pino(-pretty)?', '^src/(lib/gateway|commands|cli)/'],
];

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'No circular imports, including type-only ones.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-unlisted-module',
      comment: 'Every module is in the table.',
      severity: 'error',
      from: { path: `^src/lib/(?!(${Object.keys(modules).join('|')})/)` },
      to: {},
    },
    {
      name: 'lib-knows-no-cli',
      comment: 'No module imports a command, src/cli or the command framework.',
      severity: 'error',
      from: { path: '^src/lib/' },
      to: { path: '^src/(commands|cli)/|(^|/)node_modules/(@inquirer|@oclif|ora|chalk)/' },
    },
    {
      name: 'entry-point',
      comment: 'Other modules import only index.ts, or an extra entry point that is meant for them.',
      severity: 'error',
      from: { path: '^src/lib/([^/]+)/' },
      to: {
        path: '^src/lib/[^/]+/',
        pathNot: [
          '^src/lib/$1/',
          '^src/lib/[^/]+/index\\.ts$',
          ...Object.keys(extraEntries).map((entry) => `^src/lib/${entry.replace('.', '\\.')}$`),
        ],
      },
    },
    {
      name: 'entry-point-of-commands',
      comment:
        'Commands and src/cli import index.ts of a module, a result schema, or a file of a topic of the toolkit. SSH is loaded only with --via, and the simulator in parts; types are loaded by none.',
      severity: 'error',
      from: { path: '^src/(commands|cli)/' },
      to: {
        path: '^src/lib/',
        pathNot: [
          '^src/lib/[^/]+/index\\.ts$',
          '^src/lib/[^/]+/[^/]+\\.result\\.ts$',
          '^src/lib/[^/]+/[^/]+/[^/]+\\.result\\.ts$',
          '^src/lib/toolkit/[^/]+/',
          '^src/lib/toolkit/(via|remote-run|verdict)\\.ts$',
          '^src/lib/sim/',
          // Only its rule above says which command.
          '^src/lib/gateway/event-output\\.ts$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    ...Object.entries(extraEntries).map(([entry, from]) => ({
      name: `extra-entry-${entry.replace(/[/.]/g, '-')}`,
      comment: `Only ${from} may import ${entry} (besides its own module).`,
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: entry === 'angle/convert.ts' ? [from] : [from, `^src/lib/${entry.split('/')[0]}/`],
      },
      to: { path: `^src/lib/${entry.replace('.', '\\.')}$` },
    })),
    ...moduleRules,
    ...owned.map(([library, from]) => ({
      name: `owner-of-${library.replace(/[^a-z]+/g, '-')}`,
      comment: `${library} is used in ${from} only.`,
      severity: 'error',
      from: { path: '^src/', pathNot: [from] },
      to: { path: `(^|/)node_modules/${library}/` },
    })),
    {
      name: 'child-processes',
      comment:
        'Only where a child process is supervised, and for two relays: to an output that would block, and to systemd, and for the pager of a person.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/cli/pager\\.ts$',
          '^src/lib/toolkit/',
          '^src/lib/tunnel/session/',
          '^src/lib/gateway/(output-sink|service-manager)\\.ts$',
        ],
      },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: 'udp-sockets',
      comment: 'Only the heartbeat and its simulated neighbours use UDP.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/lib/fleet/', '^src/lib/sim/'] },
      to: { path: '^(node:)?dgram$' },
    },
    {
      name: 'not-to-dev',
      comment:
        'Shipped code does not import development tools; the libraries named here are built in (vite.config.ts).',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        pathNot:
          '(^|/)node_modules/(@inquirer/prompts|@oclif/core|chalk|ipaddr\\.js|jsonc-parser|leven|preact|preact-render-to-string|fast-string-width|undici|ws|@types/ws|yaml|zod)/',
      },
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
