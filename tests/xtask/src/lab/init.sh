#!/bin/bash
# The first process of the lab. It runs /given/command and ends the machine with it.
#
# | serial port | says |
# |---|---|
# | 1 | the kernel, and what goes to stderr |
# | 2 | what the command writes to stdout |
# | 3 | the command's exit status, last of all |
export PATH=/usr/local/bin:/usr/sbin:/usr/bin HOME=/root TERM=dumb
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup /sys/fs/cgroup
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=1777 tmp /tmp
mount --make-rshared /
echo lab > /proc/sys/kernel/hostname
ip link set lo up
modprobe --all kvm_amd overlay fuse virtio_pci virtio_blk
chmod 666 /dev/kvm
mount -o ro /dev/vda /given
stty -F /dev/ttyS1 raw
stty -F /dev/ttyS2 raw
# As a service manager does; a kernel alone allows 4096.
ulimit -Hn 524288
cd /given
# Whoever started the machine may be gone: it ends by itself.
timeout --kill-after=10 "${LAB_TIMEOUT_S:-900}" ./command > /dev/ttyS1
echo $? > /dev/ttyS2
sync
echo o > /proc/sysrq-trigger
# Not to end before the machine does.
sleep 60
