# SPDX-License-Identifier: Apache-2.0
"""Builds small trees of sysfs, procfs and /etc for --sysroot."""
import os


class Tree:
    def __init__(self, root):
        self.root = root
        self.write("proc/sys/kernel/hostname", "fixture\n")
        self.write("proc/sys/kernel/osrelease", "6.1.0-fixture\n")
        self.meminfo(67108864, 60000000)

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def write(self, path, text):
        full = self.path(path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text)

    def link(self, path, target):
        full = self.path(path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        os.symlink(target, full)

    def meminfo(self, total, available):
        self.write("proc/meminfo", f"MemTotal:       {total} kB\nMemFree:  1 kB\n"
                                   f"MemAvailable:   {available} kB\n")

    def pci(self, address, vendor, device, pci_class, under="pci0000:00", **files):
        """One PCI function; `under` is the way from the root complex."""
        home = f"sys/devices/{under}/{address}"
        self.write(f"{home}/vendor", f"0x{vendor}\n")
        self.write(f"{home}/device", f"0x{device}\n")
        self.write(f"{home}/class", f"0x{pci_class}\n")
        files.setdefault("numa_node", -1)
        driver = files.pop("driver", None)
        parent = files.pop("physfn", None)
        for name, value in files.items():
            self.write(f"{home}/{name}", f"{value}\n")
        up = "../" * (home.count("/") + 1)
        if driver is not None:
            os.makedirs(self.path("sys/bus/pci/drivers", driver), exist_ok=True)
            self.link(f"{home}/driver", f"{up}sys/bus/pci/drivers/{driver}")
        if parent is not None:
            self.link(f"{home}/physfn", f"../{parent}")
        self.link(f"sys/bus/pci/devices/{address}", f"../../../../{home}")
        return home

    def net(self, name, home, speed, kind=1):
        """A network interface of the PCI function at `home`."""
        folder = f"{home}/net/{name}"
        self.write(f"{folder}/speed", f"{speed}\n")
        self.write(f"{folder}/type", f"{kind}\n")
        self.link(f"{folder}/device", "../../../" + os.path.basename(home))
        self.link(f"sys/class/net/{name}", f"../../../{folder}")

    def infiniband(self, name, home, rate, layer="InfiniBand", state="4: ACTIVE"):
        folder = f"{home}/infiniband/{name}"
        self.write(f"{folder}/ports/1/rate", f"{rate}\n")
        self.write(f"{folder}/ports/1/link_layer", f"{layer}\n")
        self.write(f"{folder}/ports/1/state", f"{state}\n")
        self.link(f"{folder}/device", "../../../" + os.path.basename(home))
        self.link(f"sys/class/infiniband/{name}", f"../../../{folder}")
