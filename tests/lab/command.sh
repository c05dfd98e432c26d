#!/bin/bash
# What the lab runs: scenarios as root and as an ordinary user, a line of JSON each.
set -e
export AIRLOCK_BIN=/given/airlock AIRLOCK_TEST_DEADLINE_S=300 TMPDIR=/var/tmp

/given/lab-driver session auto
/given/lab-driver session-in-a-microvm microvm
/given/lab-driver bulk bulk

# The words come from tests/suite/microvm.rs.
for trigger in TRIGGERS; do /given/lab-driver $trigger rootful-$trigger; done

# A krun that is none, as a podman that ignores the runtime would start it.
mkdir /run/ignored
printf '#!/bin/sh\nexec /usr/bin/crun "$@"\n' > /run/ignored/krun
chmod 755 /run/ignored/krun
PATH=/run/ignored:$PATH /given/lab-driver session ignored
PATH=/run/ignored:$PATH /given/lab-driver few-commands-in-a-microvm ignored-and-refused

# An ordinary user's session, as a service manager prepares it: a control group of its own.
group=/sys/fs/cgroup/user
mkdir -p $group/session
echo '+cpu +memory +pids' > /sys/fs/cgroup/cgroup.subtree_control
echo '+cpu +memory +pids' > $group/cgroup.subtree_control
chown -R lab:lab $group
echo $$ > $group/session/cgroup.procs
export HOME=/home/lab USER=lab
as_user() { setpriv --reuid=lab --regid=lab --init-groups --inh-caps=-all "$@"; }
as_user /given/lab-driver session rootless
for trigger in TRIGGERS; do as_user /given/lab-driver $trigger rootless-$trigger; done
as_user /given/lab-driver doctor doctor
