import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { openApi } from '../../src/cli/contracts/openapi.ts';

interface Content {
  readonly schema?: object;
}
interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, Content>>;
}
export interface Operation {
  readonly operationId: string;
  readonly 'x-gw-sockets': readonly number[];
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly $ref?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response>>;
}
interface OpenApi {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
}

export const document = openApi('0.0.0-test') as unknown as OpenApi;
export const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

const ajv = new Ajv2020({ strict: false }).addSchema({ $id: 'document', components: document.components });
const compiled = new Map<string, (data: unknown) => boolean>();
/** What a value contradicts in a schema of the document; null: nothing. */
export function fault(schema: object, value: unknown): string | null {
  const key = JSON.stringify(schema);
  const validate = compiled.get(key) ?? ajv.compile(JSON.parse(key.replaceAll('"#/', '"document#/')));
  compiled.set(key, validate);
  return validate(value) ? null : ajv.errorsText((validate as { errors?: [] }).errors);
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
interface Answered {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

/** One request; of a stream without end only the head is read. */
export async function send(port: number, { method, path, headers = {}, body }: Asked): Promise<Answered> {
  const isSized = body !== undefined && !('transfer-encoding' in headers);
  const all = { ...headers, ...(isSized && { 'content-length': Buffer.byteLength(body) }) };
  const pending = request({ host: '127.0.0.1', port, method, path, headers: all, agent: false }).end(body);
  const [response] = (await once(pending, 'response')) as [IncomingMessage];
  const type = response.headers['content-type']?.split(';')[0];
  const chunks: Buffer[] = [];
  if (type === 'text/event-stream') response.destroy();
  else for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return { status: response.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() };
}

/** Fails when the contract does not describe this answer of its operation. */
export function expectDescribed(operation: Operation, { status, type, text }: Answered): void {
  const { operationId, responses } = operation;
  const named = responses[status];
  expect(named, `${operationId}: no answer ${status} in the contract: ${text.slice(0, 200)}`).toBeDefined();
  const response = document.components.responses[named?.$ref?.split('/').at(-1) ?? ''] ?? named;
  const { content = {} } = response ?? {};
  if (text === '' && type === undefined) {
    expect(content, `${operationId} ${status} has a body`).toEqual({});
    return;
  }
  const described = content[type ?? ''] ?? content['*/*'];
  expect(described, `${operationId} ${status}: ${type} is not in the contract`).toBeDefined();
  if (type !== 'application/json') return;
  expect([operationId, status, fault(described?.schema ?? {}, JSON.parse(text))]).toEqual([operationId, status, null]);
}
