// Default rules, for accounts that have set none. They use one account's own traffic and name no country.
import type { Rules } from './rule-set.ts';

const above = (path: string, count: number) => ({ '>': [{ var: path }, count] });
const rule = (name: string, points: number, description: string, when: unknown) => ({
  name,
  points,
  description,
  when,
});

export const defaultRules: Rules = {
  thresholds: { review: 40, block: 80 },
  rules: [
    rule('disposable_email', 40, 'A disposable mail domain', { '==': [{ var: 'email.is_disposable' }, true] }),
    rule('no_mail_server', 30, 'The mail domain has no MX records', { '===': [{ var: 'email.has_mx' }, false] }),
    rule('address_not_public', 10, 'No public network address', {
      and: [{ '!!': [{ var: 'ip.kind' }] }, { '!=': [{ var: 'ip.kind' }, 'public'] }],
    }),
    rule('ip_burst', 30, 'Many calls from one network address in a minute', above('ip.count_1m', 20)),
    rule('users_on_ip', 25, 'Many users on one network address', above('ip.users_1h', 5)),
    rule('users_on_device', 35, 'Several users on one device', above('device.users_24h', 3)),
    rule('ips_of_user', 20, 'One user from many network addresses', above('user.ips_1h', 4)),
    rule('logins_of_user', 30, 'Many logins of one user', {
      and: [{ '==': [{ var: 'event' }, 'login'] }, { '>': [{ var: 'user.count_1h' }, 20] }],
    }),
    rule('signups_on_device', 30, 'Several sign-ups on one device', {
      and: [{ '==': [{ var: 'event' }, 'signup'] }, { '>': [{ var: 'device.emails_24h' }, 2] }],
    }),
    rule('payments_of_user', 30, 'Many payments of one user in an hour', {
      and: [{ '==': [{ var: 'event' }, 'payment'] }, { '>': [{ var: 'user.count_1h' }, 10] }],
    }),
  ],
};
