import { z } from 'zod';
import { pageStateSchema } from '../../lib/pages/index.ts';
import { notThePlatforms } from './info.ts';

/** The AsyncAPI document of the live events. */
export function asyncApi(version: string): object {
  // The schema objects of AsyncAPI are those of draft 07.
  const { $schema, ...payload } = z.toJSONSchema(pageStateSchema, { io: 'output', target: 'draft-07' });
  return {
    asyncapi: '3.0.0',
    info: { title: 'Live events of gw', version, description: notThePlatforms },
    defaultContentType: 'application/json',
    servers: {
      full: { host: '127.0.0.1:5173', protocol: 'http', description: 'Full socket; `operator.port` of the site file.' },
      readOnly: { host: '127.0.0.1:5174', protocol: 'http', description: 'Read-only socket.' },
    },
    channels: {
      events: {
        address: '/api/events',
        description:
          'Server-sent events. The current state at once, then every change at once (two events are at least 40 ms apart), and the ages once a second.',
        servers: [{ $ref: '#/servers/full' }, { $ref: '#/servers/readOnly' }],
        messages: { state: { $ref: '#/components/messages/state' } },
      },
    },
    operations: {
      sendState: {
        action: 'send',
        channel: { $ref: '#/channels/events' },
        summary: 'State of robot and gateway, as the pages show it',
        messages: [{ $ref: '#/channels/events/messages/state' }],
        bindings: { http: { method: 'GET', bindingVersion: '0.3.0' } },
      },
    },
    components: {
      messages: {
        state: {
          name: 'state',
          title: 'The view model of the pages: codes and numbers, no sentences.',
          description:
            'The field `event` of the stream is the name of the message, its `data` the payload on one line.',
          payload,
        },
      },
    },
  };
}
