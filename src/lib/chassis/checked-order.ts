import { GwError } from '../error/index.ts';
import { DialError, isBeforeConnection } from '../net/index.ts';
import { accepted, identify, insideOf } from './client.ts';
import type { ChassisClient } from './model.ts';
import type { Reply, Request } from './transport.ts';

/**
 * Sends a request that changes the chassis, over a connection of its own on which the serial number is verified
 * first: an address that was reassigned since the last check must not change another robot. Throws as the client
 * does; after CHASSIS_NOT_CONNECTED it is unknown whether the chassis accepted the order (`orderAccepted: 'unknown'`).
 */
export async function sendChecked(client: ChassisClient, request: Request): Promise<Reply> {
  const { transport, expectedSerial } = insideOf(client);
  return await transport.overOwnConnection(async (send) => {
    if (expectedSerial !== undefined) await identify(send, expectedSerial, request.signal);
    try {
      return await accepted(send, await send(request), request.path, request.signal);
    } catch (error) {
      throw withUnknownAcceptance(error);
    }
  });
}

/** A connection that was lost after dialling may have carried the order already. */
function withUnknownAcceptance(error: unknown): unknown {
  if (!(error instanceof DialError) || isBeforeConnection(error.failure)) return error;
  return new GwError(
    'CHASSIS_NOT_CONNECTED',
    'not connected: connection lost while the order was sent; whether the chassis accepted it is unknown.',
    {
      tried: error.tried,
      remedy: 'Check the robot, or its state once it is connected again, before you send another order.',
      details: { orderAccepted: 'unknown' },
      cause: error,
    },
  );
}
