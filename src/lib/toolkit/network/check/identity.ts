import {
  assertIdentityOf,
  type Credentials,
  type Identity,
  loadIdentity,
  readCredentials,
} from '../../../enrolment/index.ts';
import { GwError } from '../../../error/index.ts';
import type { Site } from '../../../site/index.ts';

/** The enrolled identity of this device. */
export type KnownIdentity =
  | {
      readonly kind: 'enrolled';
      readonly credentials: Credentials;
      readonly subject: string;
      readonly identity: Identity;
      readonly endpoint: string;
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly error: GwError };

/** That of another robot is 'broken': nothing is connected with it. */
export async function readKnownIdentity({ enrolment, chassis }: Site): Promise<KnownIdentity> {
  if (enrolment === undefined) return { kind: 'none' };
  try {
    const identity = await loadIdentity(enrolment.identityDir);
    if (identity === null) return { kind: 'none' };
    assertIdentityOf(identity, chassis.serial);
    const { subject } = identity.certificate;
    const credentials = await readCredentials(enrolment.identityDir);
    return { kind: 'enrolled', credentials, subject, identity, endpoint: identity.endpoint };
  } catch (error) {
    if (error instanceof GwError) return { kind: 'broken', error };
    throw error;
  }
}
