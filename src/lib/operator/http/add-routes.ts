import multipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../lifecycle/index.ts';
import { allowUpload } from '../connections/connection.ts';
import type { Handlers } from '../handlers.ts';
import { MAX_MEDIA_BYTES } from '../media/media.ts';
import { type HandlerName, routes } from '../routes.ts';
import { type Handler, scheduled } from './handler.ts';
import { acceptAnyBody } from './policy.ts';

/** Adds every row of the route table with its handler. */
export async function addRoutes(app: FastifyInstance, handlers: Handlers, clock: Clock): Promise<void> {
  for (const row of routes) {
    const add = (to: FastifyInstance) =>
      to.route({
        method: row.method,
        url: row.path,
        config: { row },
        handler: scheduled(handlerOf(handlers, row.handler), row),
      });
    if (row.upload) {
      // The multipart plugin hooks into every request of its context, so this route has a context of its own.
      await app.register((inner, _options, done) => {
        // Runs after the policy check: only the upload of a signed-in person is exempt from the body deadline.
        inner.addHook('onRequest', (request, _reply, done) => {
          allowUpload(request.raw);
          done();
        });
        inner.register(multipart, {
          limits: { files: 1, fields: 4, fieldSize: 1_024, headerPairs: 32, fileSize: MAX_MEDIA_BYTES + 1 },
          throwFileSizeLimit: false,
          // A name that is cut to its last part could be that of another file.
          preservePath: true,
        });
        inner.after(() => add(inner));
        done();
      });
    } else if (row.anyBody) {
      await app.register((inner, _options, done) => {
        add(acceptAnyBody(inner, clock));
        done();
      });
    } else add(app);
  }
}

function handlerOf(handlers: Handlers, name: HandlerName): Handler {
  const [group = '', own = ''] = name.split('.');
  const handler = (handlers as Readonly<Record<string, Readonly<Record<string, Handler>>>>)[group]?.[own];
  if (handler === undefined) throw new RangeError(`there is no handler ${name}`);
  return handler;
}
