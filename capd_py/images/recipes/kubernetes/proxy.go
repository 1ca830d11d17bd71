package main

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/component-base/cli"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	"sigs.k8s.io/yaml"
)

const (
	conntrackMax  = "/proc/sys/net/netfilter/nf_conntrack_max"
	adjustedProxy = "/tmp/kube-proxy-config.yaml"
)

// runProxy starts kube-proxy, which dies where it may not raise the kernel's connection table limit. A node in
// a container often may not, so there the limit is left alone.
func runProxy() int {
	if !writable(conntrackMax) {
		if err := keepConntrack(os.Args); err != nil {
			fmt.Fprintln(os.Stderr, "kube-proxy keeps its configuration as it is:", err)
		}
	}
	return cli.Run(proxy.NewProxyCommand())
}

// writable tells by writing what is there: permission bits say nothing about a read-only or foreign namespace.
func writable(path string) bool {
	value, err := os.ReadFile(path)
	if err != nil {
		return os.IsNotExist(err)
	}
	return os.WriteFile(path, value, 0) == nil
}

// keepConntrack points --config in args at a copy that sets no connection table limit.
func keepConntrack(args []string) error {
	for i, arg := range args {
		path, found := strings.CutPrefix(arg, "--config=")
		if !found {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var config map[string]any
		if err := yaml.Unmarshal(text, &config); err != nil {
			return err
		}
		conntrack, _ := config["conntrack"].(map[string]any)
		if conntrack == nil {
			conntrack = map[string]any{}
		}
		conntrack["maxPerCore"], conntrack["min"] = 0, 0
		config["conntrack"] = conntrack
		if text, err = yaml.Marshal(config); err != nil {
			return err
		}
		if err := os.WriteFile(adjustedProxy, text, 0o600); err != nil {
			return err
		}
		args[i] = "--config=" + adjustedProxy
	}
	return nil
}
