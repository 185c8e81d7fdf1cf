import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { asyncApi } from '../../src/cli/contracts/asyncapi.ts';
import { openApi } from '../../src/cli/contracts/openapi.ts';
import { pageStateSchema } from '../../src/lib/pages/index.ts';
import { connectedView } from '../cloud/views.ts';
import { ask, startServer } from './server.ts';
import { tried } from './stand-ins.ts';
import { runningSupport, standInSupport } from './support-stand-in.ts';

describe('the published documents', () => {
  it('are those of this build', async () => {
    await using server = await startServer();
    for (const [name, made] of [
      ['openapi', openApi('')],
      ['asyncapi', asyncApi('')],
    ] as const) {
      const { data } = await ask(server.full, `/api/${name}.json`);
      expect({ ...data, info: { ...data.info, version: '' } }).toEqual(JSON.parse(JSON.stringify(made)));
    }
  });

  it('are not found where the package has none', async () => {
    await using server = await startServer({ more: { contractsDir: '/nonexistent' } });
    expect((await ask(server.full, '/api/openapi.json')).status).toBe(404);
  });
});

describe('the AsyncAPI document', () => {
  it('describes every state event, in each state of the link', async () => {
    const { name, validate } = described('state');
    await using server = await startServer({
      more: { cloud: () => connectedView, support: standInSupport(runningSupport) },
    });
    const states = [
      () => server.link.setState({ kind: 'connected', tried }),
      () => server.link.setState({ kind: 'booting', progress: 0.5, step: null, tried }),
      () => server.link.setState({ kind: 'not-connected', failure: 'refused', detail: 'refused', tried }),
      () => void server.motion.stopRobot('test', 'test'),
      () => void server.motion.startTour('breakfast'),
    ];
    for (const [at, change] of states.entries()) {
      change();
      const data = await firstEvent(at % 2 === 0 ? server.full : server.readOnly, name);
      expect([at, validate(data), validate.errors]).toEqual([at, true, null]);
      expect(pageStateSchema.safeParse(data).error).toBeUndefined();
      expect(validate({ ...data, more: 1 })).toBe(false);
    }
  });

  it('describes the event of a pose, received or not', async () => {
    const { name, validate } = described('pose');
    await using server = await startServer();
    for (const status of ['received', 'not-received'] as const) {
      const { values } = server.link.snapshot();
      server.link.override({ values: { ...values, pose: status === 'received' ? values.pose : { status } } });
      const data = await eventOf(server.full, name, () => {
        server.link.changed('pose');
        server.clock.advance(50);
      });
      expect([status, validate(data), validate.errors]).toEqual([status, true, null]);
      expect(validate({ ...data, id: 'x' })).toBe(false);
    }
  });
});

/** What the document says of a message. */
function described(message: 'state' | 'pose') {
  const { components } = asyncApi('0') as {
    components: { messages: Record<string, { readonly name: string; readonly payload: object }> };
  };
  const { name = '', payload = {} } = components.messages[message] ?? {};
  return { name, validate: new Ajv({ strict: false }).compile(payload) };
}

/** The data of the first event of a stream, which must have this name. */
const firstEvent = (port: number, name: string) => eventOf(port, name, () => expect.unreachable());

/** The data of the first event of this name; `more` is called after each other one. */
async function eventOf(port: number, name: string, more: () => void): Promise<object> {
  const pending = request({ host: '127.0.0.1', port, path: '/api/events', agent: false }).end();
  const [response] = (await once(pending, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    text += chunk.toString();
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const [event, data = ''] = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      if (event === `event: ${name}`) return JSON.parse(data.slice('data: '.length));
      more();
    }
  }
  throw new Error(`the stream ended without '${name}'`);
}
