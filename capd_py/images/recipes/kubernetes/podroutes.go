// The pod network of one node: a CNI configuration from the node's own pod CIDR, a route to every other
// node's, and masquerading for what leaves the pod network.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sort"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

const (
	// routeProtocol marks our routes, so that stale ones can be told from everybody else's.
	routeProtocol = 115
	masqChain     = "CAPD-MASQ"
	confPath      = "/etc/cni/net.d/10-podroutes.conflist"
	// resync repairs what somebody else removed (a flushed table, a bounced interface).
	resync = 30 * time.Second
)

// podNode is what the network needs to know of a node.
type podNode struct {
	name  string
	ips   []net.IP
	cidrs []*net.IPNet
}

// runPodRoutes serves until it is killed. NODE_NAME names the node; KUBECONFIG, where it exists, how to
// reach the API server without waiting for kube-proxy to serve the in-cluster address.
func runPodRoutes() int {
	kubeconfig := os.Getenv("KUBECONFIG")
	if _, err := os.Stat(kubeconfig); err != nil {
		kubeconfig = ""
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Nodes().Informer()
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { notify() },
		UpdateFunc: func(any, any) { notify() },
		DeleteFunc: func(any) { notify() },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx := context.Background()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	// The first process of a container is sent signals that it does not handle in vain.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go serve(informer.GetStore(), changed, os.Getenv("NODE_NAME"))
	<-stop
	return 0
}

func serve(store cache.Store, changed <-chan struct{}, self string) {
	ticker := time.NewTicker(resync)
	last := ""
	for {
		tick := false
		select {
		case <-changed:
		case <-ticker.C:
			tick = true
		}
		nodes := podNodes(store.List())
		// Nodes change with every heartbeat; only an address or a CIDR matters here.
		now := fmt.Sprint(nodes)
		if now == last && !tick {
			continue
		}
		if err := apply(nodes, self); err != nil {
			klog.ErrorS(err, "Pod network is not up to date; trying again")
			last = ""
			time.AfterFunc(time.Second, func() { ticker.Reset(time.Second) })
			continue
		}
		ticker.Reset(resync)
		if now != last {
			klog.InfoS("Pod network is up to date", "nodes", len(nodes))
		}
		last = now
	}
}

func podNodes(objects []any) []podNode {
	nodes := make([]podNode, 0, len(objects))
	for _, object := range objects {
		node, ok := object.(*corev1.Node)
		if !ok {
			continue
		}
		entry := podNode{name: node.Name}
		for _, address := range node.Status.Addresses {
			if ip := net.ParseIP(address.Address); ip != nil && address.Type == corev1.NodeInternalIP {
				entry.ips = append(entry.ips, ip)
			}
		}
		for _, text := range node.Spec.PodCIDRs {
			if _, cidr, err := net.ParseCIDR(text); err == nil {
				entry.cidrs = append(entry.cidrs, cidr)
			}
		}
		nodes = append(nodes, entry)
	}
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].name < nodes[j].name })
	return nodes
}

func apply(nodes []podNode, self string) error {
	var own *podNode
	var peers []podNode
	for i := range nodes {
		if nodes[i].name == self {
			own = &nodes[i]
		} else {
			peers = append(peers, nodes[i])
		}
	}
	if own == nil || len(own.cidrs) == 0 {
		klog.InfoS("Waiting for this node's pod CIDR", "node", self)
		return nil
	}
	// Routes and rules first: the configuration makes the node Ready, and pods follow at once.
	if err := applyRoutes(peers); err != nil {
		return err
	}
	if err := applyMasquerade(own.cidrs, nodes); err != nil {
		return err
	}
	return writeConf(own.cidrs)
}

func isV4(ip net.IP) bool { return ip.To4() != nil }

func applyRoutes(peers []podNode) error {
	wanted := map[string]bool{}
	for _, peer := range peers {
		for _, cidr := range peer.cidrs {
			for _, ip := range peer.ips {
				if isV4(ip) != isV4(cidr.IP) {
					continue
				}
				route := &netlink.Route{Dst: cidr, Gw: ip, Protocol: routeProtocol}
				if err := netlink.RouteReplace(route); err != nil {
					return fmt.Errorf("route to %s via %s: %w", cidr, ip, err)
				}
				wanted[cidr.String()] = true
				break
			}
		}
	}
	filter := &netlink.Route{Protocol: routeProtocol, Table: unix.RT_TABLE_MAIN}
	mask := netlink.RT_FILTER_PROTOCOL | netlink.RT_FILTER_TABLE
	ours, err := netlink.RouteListFiltered(netlink.FAMILY_ALL, filter, mask)
	if err != nil {
		return fmt.Errorf("list routes: %w", err)
	}
	for i := range ours {
		if ours[i].Dst == nil || wanted[ours[i].Dst.String()] {
			continue
		}
		if err := netlink.RouteDel(&ours[i]); err != nil {
			return fmt.Errorf("remove route to %s: %w", ours[i].Dst, err)
		}
	}
	return nil
}

func applyMasquerade(own []*net.IPNet, nodes []podNode) error {
	for _, v4 := range []bool{true, false} {
		var rules bytes.Buffer
		fmt.Fprintf(&rules, "*nat\n:%s - [0:0]\n", masqChain)
		for _, node := range nodes {
			for _, cidr := range node.cidrs {
				if isV4(cidr.IP) == v4 {
					fmt.Fprintf(&rules, "-A %s -d %s -j RETURN\n", masqChain, cidr)
				}
			}
		}
		used := false
		for _, cidr := range own {
			if isV4(cidr.IP) == v4 {
				used = true
				fmt.Fprintf(&rules, "-A %s -s %s -j MASQUERADE --random-fully\n", masqChain, cidr)
			}
		}
		if !used {
			continue
		}
		rules.WriteString("COMMIT\n")
		if err := restore(v4, rules.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// restore replaces our chain in one transaction and makes sure that POSTROUTING calls it.
func restore(v4 bool, rules []byte) error {
	prefix := "iptables"
	multicast := "224.0.0.0/4"
	if !v4 {
		prefix, multicast = "ip6tables", "ff00::/8"
	}
	command := exec.Command(prefix+"-restore", "-w", "5", "--noflush")
	command.Stdin = bytes.NewReader(rules)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s-restore: %w: %s", prefix, err, out)
	}
	jump := []string{"POSTROUTING", "!", "-d", multicast, "-j", masqChain}
	if exec.Command(prefix, append([]string{"-w", "5", "-t", "nat", "-C"}, jump...)...).Run() == nil {
		return nil
	}
	out, err := exec.Command(prefix, append([]string{"-w", "5", "-t", "nat", "-A"}, jump...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", prefix, err, out)
	}
	return nil
}

func writeConf(cidrs []*net.IPNet) error {
	type object = map[string]any
	ranges := make([]any, 0, len(cidrs))
	for _, cidr := range cidrs {
		ranges = append(ranges, []any{object{"subnet": cidr.String()}})
	}
	conf, err := json.MarshalIndent(object{
		"cniVersion": "0.4.0",
		"name":       "podroutes",
		"plugins": []any{
			object{
				"type": "bridge", "bridge": "cni0", "isDefaultGateway": true, "hairpinMode": true,
				// Under /run, so that no lease outlives the sandboxes of before a restart.
				"ipam": object{"type": "host-local", "ranges": ranges, "dataDir": "/run/cni-leases"},
			},
			object{"type": "portmap", "capabilities": object{"portMappings": true}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	if present, err := os.ReadFile(confPath); err == nil && bytes.Equal(present, conf) {
		return nil
	}
	// Renamed into place: the container runtime reads the directory at any moment.
	temporary := filepath.Join(filepath.Dir(confPath), ".podroutes.tmp")
	if err := os.WriteFile(temporary, conf, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, confPath)
}
