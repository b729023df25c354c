import type { CreatedSession, ThreeDsSession } from '../../schema/three-ds/session.ts';
import { applicationId, tenantId } from '../seed/entities.ts';
import type { Service } from '../service.ts';
import { isoTime } from '../time.ts';
import { authenticationView, tokenNames } from './authentication-view.ts';
import { findNetwork } from './networks.ts';
import { methodAddress, notificationAddress } from './page-address.ts';
import { scenarioOf } from './scenarios.ts';
import { expiryOf, type Session } from './sessions.ts';
import { KNOWN_VERSIONS, PROTOCOL_VERSION } from './version.ts';

/** A session as its creation answers it. */
export function createdView(service: Service, session: Session): CreatedSession {
  const { created, id } = session;
  return {
    id,
    type: created.sessionType,
    card_brand: created.network,
    ...(needsMethod(session) && {
      method_url: methodAddress(service, session),
      method_notification_url: notificationAddress(service, session),
    }),
    directory_server_id: findNetwork(created.network)?.directoryServer,
    recommended_version: PROTOCOL_VERSION,
  };
}

/** A session as a read answers it. */
export function sessionView(service: Service, session: Session, now: number): ThreeDsSession {
  const { seed } = service.state.world.start;
  const { created, id, authentication } = session;
  return {
    id,
    tenant_id: tenantId(seed),
    type: created.sessionType,
    ...tokenNames(session),
    card_brand: created.network,
    expiration_date: isoTime(expiryOf(session)),
    created_date: isoTime(created.at),
    created_by: applicationId(seed, created.application),
    ...(authentication !== undefined && {
      modified_date: isoTime(authentication.at),
      modified_by: applicationId(seed, authentication.application),
    }),
    ...deviceView(session),
    version: VERSION,
    ...(created.sessionType === 'customer' && { method: methodView(service, session) }),
    ...(authentication !== undefined && {
      authentication: authenticationView({ service, session, authentication, now }),
    }),
  };
}

// Whether the issuer asks for the details of the browser first.
function needsMethod({ created }: Session): boolean {
  return created.sessionType === 'customer' && scenarioOf(created.scenario).withoutMethod !== true;
}

// Without script the method page learns of a browser what every request tells.
function deviceView({ created, visit }: Session): Pick<ThreeDsSession, 'device' | 'device_info'> {
  if (created.sessionType === 'merchant') return {};
  if (visit?.browser === undefined) return { device: 'browser' };
  const { accept, address, userAgent } = visit.browser;
  return {
    device: 'browser',
    device_info: {
      browser_accept_header: accept,
      browser_ip_address: address,
      browser_user_agent: userAgent,
    },
  };
}

function methodView(service: Service, session: Session): ThreeDsSession['method'] {
  if (!needsMethod(session)) return { method_completion_indicator: 'U' };
  return {
    method_url: methodAddress(service, session),
    method_completion_indicator: session.notified === undefined ? 'N' : 'Y',
  };
}

const VERSION: ThreeDsSession['version'] = {
  recommended_version: PROTOCOL_VERSION,
  available_version: [...KNOWN_VERSIONS],
  earliest_acs_supported_version: KNOWN_VERSIONS[0],
  earliest_ds_supported_version: KNOWN_VERSIONS[0],
  latest_acs_supported_version: PROTOCOL_VERSION,
  latest_ds_supported_version: PROTOCOL_VERSION,
  acs_information: ['01', '02'],
};
