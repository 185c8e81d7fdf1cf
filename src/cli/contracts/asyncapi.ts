import { z } from 'zod';
import { pageStateSchema, posedSchema } from '../../lib/pages/index.ts';
import { notThePlatforms } from './info.ts';

/** The AsyncAPI document of the live events. */
export function asyncApi(version: string): object {
  // The schema objects of AsyncAPI are those of draft 07.
  const payloadOf = (schema: z.ZodType) => {
    const { $schema, ...payload } = z.toJSONSchema(schema, { io: 'output', target: 'draft-07' });
    return payload;
  };
  const sending = (message: 'state' | 'pose', summary: string) => ({
    action: 'send',
    channel: { $ref: '#/channels/events' },
    summary,
    messages: [{ $ref: `#/channels/events/messages/${message}` }],
    bindings: { http: { method: 'GET', bindingVersion: '0.3.0' } },
  });
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
          'Server-sent events. The current state at once, then every change at once (two events are at least 40 ms apart), and the state once a second with the ages. A pose that changes nothing else is sent alone.',
        servers: [{ $ref: '#/servers/full' }, { $ref: '#/servers/readOnly' }],
        messages: {
          state: { $ref: '#/components/messages/state' },
          pose: { $ref: '#/components/messages/pose' },
        },
      },
    },
    operations: {
      sendState: sending('state', 'State of robot and gateway, as the pages show it'),
      sendPose: sending('pose', 'The pose of the robot, where nothing else has changed'),
    },
    components: {
      messages: {
        state: {
          name: 'state',
          title: 'The view model of the pages: codes and numbers, no sentences.',
          description:
            'The field `event` of the stream is the name of the message, its `data` the payload on one line.',
          payload: payloadOf(pageStateSchema),
        },
        pose: {
          name: 'pose',
          title: 'Pose and heading, which take the place of those in the state before it.',
          description: 'It has no id of its own: an order names the state before it.',
          payload: payloadOf(posedSchema),
        },
      },
    },
  };
}
