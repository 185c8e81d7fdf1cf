import { GwError } from '../error/index.ts';
import { DialError } from '../net/index.ts';
import { accepted, identify, insideOf } from './client.ts';
import type { ChassisClient } from './model.ts';
import type { Reply, Request } from './transport.ts';

/**
 * Sends what changes something on the chassis, over a connection of its own on which the serial number was asked
 * first: an address that has changed hands since the last look must not change another robot. Throws as the client
 * does; CHASSIS_NOT_CONNECTED after sending leaves open whether the order was taken, and says so.
 */
export async function sendChecked(client: ChassisClient, request: Request): Promise<Reply> {
  const { transport, expectedSerial } = insideOf(client);
  return await transport.overOwnConnection(async (send) => {
    if (expectedSerial !== undefined) await identify(send, expectedSerial, request.signal);
    try {
      return await accepted(send, await send(request), request.path, request.signal);
    } catch (error) {
      throw maybeTaken(error);
    }
  });
}

/** A connection that was lost after dialling may have carried the order already; nobody may assume it did not. */
function maybeTaken(error: unknown): unknown {
  if (!(error instanceof DialError) || ['refused', 'no-route', 'unknown-name'].includes(error.failure)) return error;
  return new GwError(
    'CHASSIS_NOT_CONNECTED',
    'not connected: the connection was lost over the order, so whether the chassis took it is not known.',
    {
      tried: error.tried,
      remedy: 'Look at the robot, or at its state once it is connected again, before ordering anew.',
      details: { orderTaken: 'unknown' },
      cause: error,
    },
  );
}
