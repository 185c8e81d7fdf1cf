import { type ZodType, z } from 'zod';
import { cloudViewSchema } from '../../lib/cloud/index.ts';
import {
  driveRunSchema,
  moveOutcomeSchema,
  standstillSchema,
  stopLatchSchema,
  tourRunSchema,
  trialAnswerSchema,
} from '../../lib/motion/index.ts';
import {
  type AnsweredCode,
  answerSchemas,
  describeCode,
  errorBodySchema,
  gatewayHealthSchema,
  logLevelSchema,
  neighboursSchema,
  ROBOT_HEADER,
  type Route,
  requestSchemas,
  routes,
  SESSION_COOKIE,
  settingsSchema,
} from '../../lib/operator/index.ts';
import { deliveryListSchema, deliveryViewSchema, incidentListSchema, lastHourSchema } from '../../lib/pages/index.ts';
import { chassisStateSchema } from '../../lib/toolkit/chassis/watch.result.ts';
import { gatewayLogSchema } from '../../lib/toolkit/gateway/gateway.result.ts';
import { sessionListSchema } from '../../lib/toolkit/tunnel/tunnel.result.ts';
import { supportViewSchema } from '../../lib/tunnel/index.ts';
import type { Answer, Contract } from './contract.ts';
import { notThePlatforms } from './info.ts';
import { contracts } from './rows.ts';

type Json = Readonly<Record<string, unknown>>;

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const suffixed = (schemas: Readonly<Record<string, ZodType>>, end: string) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${capital(name)}${end}`, schema]));

const { pageQuery, sessionsQuery, daysQuery, mapQuery, ...bodies } = requestSchemas;
/** Shapes that the document names; whatever is part of another one is referred to there. */
const answered: Readonly<Record<string, ZodType>> = {
  Error: errorBodySchema,
  Health: gatewayHealthSchema,
  Neighbours: neighboursSchema,
  Cloud: cloudViewSchema,
  Settings: settingsSchema,
  LastHour: lastHourSchema,
  Incidents: incidentListSchema,
  Log: gatewayLogSchema,
  LogLevel: logLevelSchema,
  Delivery: deliveryViewSchema,
  Deliveries: deliveryListSchema,
  Support: supportViewSchema,
  SupportSessions: sessionListSchema,
  ChassisState: chassisStateSchema,
  StopLatch: stopLatchSchema,
  Standstill: standstillSchema,
  MoveOutcome: moveOutcomeSchema,
  TourRun: tourRunSchema,
  DriveRun: driveRunSchema,
  TrialAnswer: trialAnswerSchema,
  ...suffixed(answerSchemas, 'Answer'),
};
const asked = suffixed(bodies, 'Request');
const names = new Map(Object.entries({ ...answered, ...asked }).map(([name, schema]) => [schema, name]));

function schemasOf(named: Readonly<Record<string, ZodType>>, io: 'input' | 'output'): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [name, schema]));
}

function refTo(schema: ZodType): Json {
  const name = names.get(schema);
  if (name === undefined) throw new Error('a schema of a route has no name in the contract');
  return { $ref: `#/components/schemas/${name}` };
}

/** OpenAPI path and its parameters, from the notation of the router. */
function pathOf(path: string): { readonly path: string; readonly parameters: readonly Json[] } {
  const parameters: Json[] = [];
  const plain = path.replace(/:(\w+)(?:\((\^[^)]*)\))?/g, (_, name: string, pattern: string | undefined) => {
    const schema = { type: 'string', ...(pattern && { pattern: `${pattern.replace(/\$$/, '')}$` }) };
    parameters.push({ name, in: 'path', required: true, schema });
    return `{${name}}`;
  });
  return { path: plain, parameters };
}

/** Of every request, before or beside its route. */
const ofAll: readonly AnsweredCode[] = [
  'BAD_REQUEST',
  'TIMEOUT',
  'WRONG_HOST',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'LOOP_DETECTED',
];
const ofBody: readonly AnsweredCode[] = ['LENGTH_REQUIRED', 'TOO_LARGE', 'UNSUPPORTED_TYPE'];

/** Codes by status: those of the row of the route table, and those of the route itself. */
function refusalsOf(row: Route, { refusals = [] }: Contract): ReadonlyMap<number, readonly AnsweredCode[]> {
  const isChange = row.method !== 'GET';
  const codes = new Set<AnsweredCode>([
    ...ofAll,
    ...(row.signedIn ? ['NOT_SIGNED_IN' as const] : []),
    ...(row.readOnly ? [] : ['READ_ONLY' as const]),
    ...(isChange || row.path.startsWith('/api') ? ['CROSS_SITE' as const] : []),
    ...(isChange && !row.anyBody ? ofBody : []),
    ...(isChange && !row.forAnyRobot ? ['GATEWAY_OTHER_ROBOT' as const] : []),
    ...refusals,
  ]);
  return Map.groupBy(codes, (code) => describeCode(code).status);
}

function refusal(status: number, codes: readonly AnsweredCode[]): Json {
  const error = { $ref: '#/components/schemas/Error' };
  // An error that no row lists is 500 with its own code.
  const schema =
    status === 500 ? error : { allOf: [error, { properties: { error: { properties: { code: { enum: codes } } } } }] };
  return {
    description: codes.map((code) => `\`${code}\`: ${describeCode(code).meaning}`).join('\n\n'),
    ...(status === 429 && { headers: { 'Retry-After': { schema: { type: 'string' }, description: 'Seconds.' } } }),
    content: { 'application/json': { schema } },
  };
}

function contentOf(answer: Exclude<Answer, { kind: 'redirect' }>): {
  readonly description: string;
  readonly content: Json;
} {
  switch (answer.kind) {
    case 'json':
      return { description: answer.description, content: { 'application/json': { schema: refTo(answer.schema) } } };
    case 'forwarded':
      return {
        description: `Answer of the ${answer.from}, forwarded without interpretation: any JSON.`,
        content: { 'application/json': { schema: {} } },
      };
    case 'bytes':
      return { description: answer.description, content: { [answer.contentType]: {} } };
  }
}

function successes({ status = 200, answer, form, ranges }: Contract): Record<string, Json> {
  const found: Record<string, Json> = {};
  for (const one of [answer, ...(form === undefined ? [] : [form])]) {
    if (one.kind === 'redirect') {
      const description = answer === one ? 'Done.' : 'Done; the answer to a form.';
      found[303] = { description, headers: { Location: { schema: { const: one.to } } } };
    } else {
      const { description, content } = contentOf(one);
      const before = found[status] as ReturnType<typeof contentOf> | undefined;
      found[status] = { description: before?.description ?? description, content: { ...before?.content, ...content } };
    }
  }
  if (ranges && answer.kind === 'bytes') {
    found[206] = {
      description: 'The part that Range asks for.',
      headers: { 'Content-Range': { schema: { type: 'string' }, description: '`bytes FIRST-LAST/ALL`' } },
      content: contentOf(answer).content,
    };
  }
  return found;
}

const range = {
  name: 'Range',
  in: 'header',
  description:
    'One part, `bytes=FIRST-LAST`. Several, malformed ones and those behind the end of the file are ignored.',
  schema: { type: 'string' },
};

const file = { type: 'string', contentMediaType: 'application/octet-stream' };
const upload = { type: 'object', required: ['file'], properties: { file } };

function requestBody({ body, bodyIsOptional, form }: Contract): Json | null {
  if (body === undefined) return null;
  if (body === 'upload') return { required: true, content: { 'multipart/form-data': { schema: upload } } };
  const content = { schema: refTo(body) };
  return {
    required: bodyIsOptional !== true,
    content: { 'application/json': content, ...(form && { 'application/x-www-form-urlencoded': content }) },
  };
}

function queryParameters(query: Contract['query']): readonly Json[] {
  if (query === undefined) return [];
  const { properties = {} } = z.toJSONSchema(query, { io: 'input' });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
}

const session = { session: [] };

/** The OpenAPI document of the operator server. Throws for a route without a contract, and for a contract without a route. */
export function openApi(version: string, rows: readonly Route[] = routes): Json {
  const paths: Record<string, Record<string, Json>> = {};
  const responses: Record<string, Json> = {};
  const unused = new Set(Object.keys(contracts));
  for (const row of rows) {
    const { path, parameters } = pathOf(row.path);
    const key = `${row.method} ${path}`;
    const contract = contracts[key];
    if (contract === undefined) throw new Error(`${key} has no contract`);
    unused.delete(key);
    const refused: Record<string, Json> = {};
    for (const [status, codes] of refusalsOf(row, contract)) {
      const name = codes.join('.');
      responses[name] = refusal(status, codes);
      refused[status] = { $ref: `#/components/responses/${name}` };
    }
    const isForRobot = row.method !== 'GET' && !row.forAnyRobot;
    const all = [
      ...parameters,
      ...queryParameters(contract.query),
      ...(contract.ranges ? [range] : []),
      ...(isForRobot ? [{ $ref: '#/components/parameters/robot' }] : []),
    ];
    const body = requestBody(contract);
    paths[path] = {
      ...paths[path],
      [row.method.toLowerCase()]: {
        operationId: contract.id,
        summary: row.meaning,
        ...(contract.description && { description: contract.description }),
        'x-gw-sockets': row.readOnly ? [5173, 5174] : [5173],
        security: row.signedIn ? [session] : contract.signIn === 'optional' ? [{}, session] : [],
        ...(all.length > 0 && { parameters: all }),
        ...(body && { requestBody: body }),
        responses: { ...successes(contract), ...refused },
      },
    };
  }
  if (unused.size > 0) throw new Error(`contracts without a route: ${[...unused].join(', ')}`);
  return {
    openapi: '3.1.0',
    info: { title: 'Operator server of gw', version, description: description() },
    servers: [
      { url: 'http://127.0.0.1:5173', description: 'The full socket; `operator.port` of the site file.' },
      { url: 'http://127.0.0.1:5174', description: 'The read-only socket.' },
    ],
    paths,
    components: {
      schemas: { ...schemasOf(answered, 'output'), ...schemasOf(asked, 'input') },
      responses,
      parameters: {
        robot: {
          name: ROBOT_HEADER,
          in: 'header',
          description: 'Serial number of the robot that the client means; absent: that of this gateway.',
          schema: { type: 'string' },
        },
      },
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE } },
    },
  };
}

function description(): string {
  return [
    notThePlatforms,
    '`x-gw-sockets` lists the sockets that offer an operation: 5173 is the full one (`operator.port` of the site file), 5174 the read-only one, where everything else is 403 `READ_ONLY` and no session counts.',
    'HEAD answers like GET, without a body. A refusal of a form of a page without script is a page, with the same status. Without sign-in absolute paths in texts are replaced by their key or name.',
  ].join('\n\n');
}
