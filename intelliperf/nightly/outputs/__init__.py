"""What people and programs read of a night: JSON, JUnit, SARIF, Markdown and HTML, all from one record."""
